"""Analytic (closed-form) loop closure: dependent coordinates as explicit functions of the independent ones."""
