"""The 3-D viewport: scene, camera and mouse interaction."""
