import ArgumentParser

/// A command that answers with an exit status instead of throwing.
protocol ZoetropeSubcommand: ParsableCommand {
  func execute() -> ExitStatus
}

extension ZoetropeSubcommand {
  /// What ArgumentParser calls; ``ZoetropeTool`` calls ``execute()`` itself.
  func run() throws { throw ExitCode(execute().rawValue) }
}
