/// Names of the terminal module.
public enum Terminal {}
