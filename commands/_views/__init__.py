"""What people see: tables and pages, a file for each subject; imported only where something is shown."""
