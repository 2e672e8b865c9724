"""Tables and pages for terminals, one module for each subject. Modules are imported only when they are used."""
