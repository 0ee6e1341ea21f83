"""What one installs: the wheel and the sdist, installed elsewhere (`make dist`)."""
