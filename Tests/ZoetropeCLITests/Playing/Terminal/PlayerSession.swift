/// The player, running on files of its own.
struct PlayerSession {
  let tool: Tool
  let terminal: Pseudoterminal

  /// Starts it in a directory that holds `files`; they are played in the order of their names.
  init(
    _ arguments: [String] = [], files: [String: [UInt8]] = ["cat.gif": SampleGIF().bytes],
    columns: Int = 120, rows: Int = 14, answers: TerminalModel.Answers = .basic,
    environment: [String] = ["TERM=xterm-256color"]
  ) throws {
    tool = try Tool()
    for (name, bytes) in files { try tool.write(bytes, to: name) }
    var model = TerminalModel(columns: columns, rows: rows)
    model.answers = answers
    terminal = try Pseudoterminal(
      Tool.program, ["play"] + arguments + files.keys.sorted(), model: model,
      environment: environment, directory: tool.directory)
  }

  /// Quits the player; returns the exit status.
  func quit() -> Int32? {
    terminal.type("q")
    let status = terminal.end()
    tool.cleanUp()
    return status
  }

  /// The row below the picture.
  var status: String { terminal.model.text(terminal.model.rows - 1) }

  /// Whether something is drawn in the colour of outlines, number 201 of the 256.
  var outlines: Bool {
    terminal.model.cells.contains { $0.pen.contains { $0.hasSuffix("8;5;201") } }
  }

  /// Types, and waits for the status line to hold every one of `texts`.
  func type(_ keys: String, expecting texts: String...) -> Bool {
    terminal.type(keys)
    return terminal.wait { texts.allSatisfy { status.contains($0) } }
  }
}
