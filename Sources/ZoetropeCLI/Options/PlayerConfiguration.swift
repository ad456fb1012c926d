import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The default options for playing that a user keeps in a file, such as
///
///     # Comments and empty lines are skipped.
///     protocol=sixel
///     bg = checker
///     hold
///
/// Each line consists of the long name of an option of `play` and its value, as in mpv.conf. A flag has no value, or
/// the value `yes` or `no`. Options on the command line come later and therefore take precedence.
struct PlayerConfiguration: Hashable {
  /// An option in the file.
  struct Line: Hashable {
    let number: Int
    let name: String
    /// The value, or nil if the line has none.
    let value: String?

    /// Returns the option as an argument, or nil for a flag whose value is `no`.
    func argument(isFlag: Bool) -> String? {
      guard let value else { return "--\(name)" }
      if isFlag { return value == "no" ? nil : "--\(name)" }
      return "--\(name)=\(value)"
    }
  }

  /// The name of the file, for messages.
  let path: String
  let lines: [Line]

  /// Parses the text of a configuration file.
  ///
  /// - Throws: A failure with the name of the file and the number of the line.
  init(_ text: String, path: String) throws(CommandFailure) {
    self.path = path
    var lines: [Line] = []
    var number = 0
    var text = text[...]
    // Editors that end lines with CR LF may begin the file with a byte order mark.
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let content = line.trimmed
      if content.isEmpty || content.hasPrefix("#") { continue }
      let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].trimmed
      guard let first = name.first, first.isASCII, first.isLetter,
        name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
      else {
        throw Self.failure(
          "\"\(name)\" is not an option; write name=value, without dashes", path, number
        )
      }
      var value = parts.count > 1 ? parts[1].trimmed : nil
      if let quoted = value, quoted.count > 1, let quote = quoted.first, quote == quoted.last,
        quote == "\"" || quote == "'"
      {
        value = String(quoted.dropFirst().dropLast())
      }
      lines.append(Line(number: number, name: name, value: value))
    }
    self.lines = lines
  }

  /// Returns the options in the file as arguments. `problem` is called with an argument and returns its error, or nil
  /// if it is valid.
  ///
  /// - Throws: A failure with the name of the file and the number of the line.
  func arguments(
    problem: (String) -> String?
  ) throws(CommandFailure) -> [String] {
    var arguments: [String] = []
    for line in lines {
      if Self.excluded.contains(line.name) {
        throw failure("--\(line.name) works only on the command line", line)
      }
      let isSwitch = line.value.map { ["yes", "no"].contains($0) } ?? false
      let isFlag = isSwitch && problem("--\(line.name)") == nil
      guard let argument = line.argument(isFlag: isFlag) else { continue }
      if let problem = problem(argument) { throw failure(problem, line) }
      arguments.append(argument)
    }
    return arguments
  }

  /// The options that make no sense in the file.
  private static let excluded: Set<String> = [
    "no-config", "help", "version", "follow", "frame", "trace", "force", "place", "id",
    "cell", "clear", "recursive", "files-from", "null",
  ]

  private func failure(_ message: String, _ line: Line) -> CommandFailure {
    Self.failure(message, path, line.number)
  }

  private static func failure(_ message: String, _ path: String, _ number: Int) -> CommandFailure {
    CommandFailure(.usage, code: "configuration", message, file: "\(path):\(number)")
  }
}

extension PlayerConfiguration {
  /// The location of the configuration file.
  struct Location: Hashable {
    let path: String
    /// Whether the user named the file. A named file must exist.
    let isNamed: Bool

    /// Determines the location from environment variables. It is the value of `ZOETROPE_CONFIG`, or else
    /// `zoetrope/config` in `XDG_CONFIG_HOME` or in `~/.config`. Returns nil if none of these is known, or if
    /// `ZOETROPE_CONFIG` is empty.
    init?(_ variable: (String) -> String?) {
      if let name = variable("ZOETROPE_CONFIG") {
        guard !name.isEmpty else { return nil }
        self.init(path: name, isNamed: true)
        return
      }
      // A relative path in `XDG_CONFIG_HOME` is invalid and is ignored.
      if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
        self.init(path: "\(folder)/zoetrope/config", isNamed: false)
      } else if let home = variable("HOME"), !home.isEmpty {
        self.init(path: "\(home)/.config/zoetrope/config", isNamed: false)
      } else {
        return nil
      }
    }

    private init(path: String, isNamed: Bool) { (self.path, self.isNamed) = (path, isNamed) }
  }

  /// The maximum number of bytes of the file.
  private static let byteLimit = 64 << 10

  /// Returns whether `error` means that the user has no configuration file, or that this process has no access to it,
  /// as in a sandbox or under `sudo`.
  static func isAbsence(_ error: Errno) -> Bool {
    [.noSuchFileOrDirectory, .notDirectory, .permissionDenied].contains(error)
  }

  /// Reads the user's configuration file. Returns nil if there is none.
  static func load(
    _ location: Location? = Location { environmentVariable($0) }
  ) throws(CommandFailure) -> PlayerConfiguration? {
    guard let location else { return nil }
    let bytes: [UInt8]
    do {
      // Opening the file must not block if it is a pipe without a writer.
      let file = try FileDescriptor.open(
        FilePath(location.path), .readOnly, options: [.closeOnExec, .nonBlocking])
      bytes = try file.closeAfter { try file.readAll(limit: byteLimit) }
    } catch {
      if !location.isNamed, let error = error as? Errno, isAbsence(error) {
        return nil
      }
      throw CommandFailure(
        .usage, code: "configuration",
        "cannot read the configuration file: \(error)", file: location.path)
    }
    guard bytes.count <= byteLimit else {
      throw CommandFailure(
        .usage, code: "configuration", "the configuration file is larger than 64 KiB",
        file: location.path)
    }
    return try PlayerConfiguration(
      String(decoding: bytes, as: UTF8.self), path: location.path)
  }
}

extension StringProtocol {
  /// The text without white space at its start and end.
  fileprivate var trimmed: String {
    let start = drop { $0.isWhitespace }
    var end = start[...]
    while let last = end.last, last.isWhitespace { end.removeLast() }
    return String(end)
  }
}
