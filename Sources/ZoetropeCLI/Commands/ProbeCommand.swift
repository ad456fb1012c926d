import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess
import ZoetropeTerminal

/// The command `zoetrope probe`.
struct ProbeCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Show what the terminal can display.",
    usage: "zoetrope probe [--json]",
    discussion: """
      The terminal is queried once and has 150 ms to answer (1 s over SSH). Without a terminal, only \
      facts from the environment are shown, and the exit status is 7.

      EXAMPLES:
        zoetrope probe
        zoetrope probe --json
      """)

  @Flag(help: "Print one line of JSON.")
  var json = false

  var reportsJSON: Bool { json }

  func execute() throws(CommandFailure) -> ExitStatus {
    var capabilities = TerminalCapabilities(environment: .current)
    var status = ExitStatus.terminal
    // The probe works even if standard output is a pipe, because the controlling terminal answers.
    if let answered = TerminalTakeover.probe() {
      if let ending = Signals.ending { return ending }
      capabilities = answered
      status = .success
    }
    let text = json ? capabilities.json : Self.text(capabilities)
    try OutputStream.print(Array((text + "\n").utf8))
    return status
  }

  private static func text(_ found: TerminalCapabilities) -> String {
    func word(_ value: Bool) -> String { value ? "yes" : "no" }
    let cell = found.cellSize.map { "\($0)" } ?? "unknown"
    return """
      terminal             \(found.name.isEmpty ? "unknown" : TerminalText.sanitized(found.name))
      draws with           \(DrawingMode(best: found).name)
      colours              \(found.colors.rawValue)
      kitty graphics       \(word(found.hasKittyGraphics))
      edits in place       \(word(found.hasKittyEdits))
      iTerm2 images        \(word(found.hasITerm2Images))
      sixel                \(found.hasSixel ? "yes, \(found.sixelRegisterCount) colours" : "no")
      synchronized output  \(word(found.hasSynchronizedOutput))
      sextants             \(word(found.drawsSextants))
      octants              \(word(found.drawsOctants))
      cell size            \(cell)
      multiplexer          \(found.multiplexer.rawValue)
      answered             \(word(found.didAnswer))
      """
  }
}
