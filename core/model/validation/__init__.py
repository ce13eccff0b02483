"""What is wrong or doubtful in a document, said before anything is computed."""
