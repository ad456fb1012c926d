import Zoetrope
import ZoetropeProcess

/// The template of `info --format`: text with fields such as `{width}`, which is printed once per file.
///
/// `{{` and `}}` are literal braces, `\t` is a tab, `\n` is a line break and `\\` is a backslash.
struct InfoTemplate: Hashable, Sendable {
  enum Field: String, CaseIterable, Sendable {
    case file, format, width, height, frames, plays, damage
    case byteCount = "byte_count"
    case durationMilliseconds = "duration_ms"
    case storedMilliseconds = "stored_duration_ms"
    case leastDelay = "least_delay_ms"
    case longestDelay = "longest_delay_ms"

    /// Creates the field called `name`, or returns nil if there is none.
    ///
    /// `stored_ms` is accepted as the stored duration of a play, as in earlier versions of the tool. In all other
    /// outputs, `stored_ms` is the delay of one frame.
    init?(name: some StringProtocol) {
      self.init(rawValue: name == "stored_ms" ? "stored_duration_ms" : String(name))
    }
  }

  private enum Token: Hashable, Sendable {
    case text(String)
    case field(Field)
  }

  private let tokens: [Token]

  /// Parses a template. Returns nil if a field is unknown, a brace is unpaired, or an escape sequence is unknown.
  init?(_ template: String) {
    var tokens: [Token] = []
    var text = ""
    var rest = template[...]
    while let letter = rest.popFirst() {
      switch letter {
      case "{", "}":
        if rest.first == letter {
          text.append(rest.removeFirst())
          continue
        }
        guard letter == "{", let end = rest.firstIndex(of: "}"),
          let field = Field(name: rest[..<end])
        else { return nil }
        tokens += [.text(text), .field(field)]
        text = ""
        rest = rest[end...].dropFirst()
      case "\\":
        switch rest.popFirst() {
        case "t": text.append("\t")
        case "n": text.append("\n")
        case "\\": text.append("\\")
        default: return nil
        }
      default: text.append(letter)
      }
    }
    self.tokens = tokens + [.text(text)]
  }

  /// Returns the line for a file, including its line break.
  ///
  /// - Parameter isForTerminal: Whether the name of the file is escaped, because it must not control a terminal.
  ///   Programs get the bytes of the name.
  func line(_ report: AnimationReport, isForTerminal: Bool) -> [UInt8] {
    var line: [UInt8] = []
    for token in tokens {
      switch token {
      case .text(let text): line += Array(text.utf8)
      case .field(.file) where isForTerminal: line += Array(report.input.name.sanitized.utf8)
      case .field(.file): line += report.input.path?.bytes ?? Array(report.input.name.utf8)
      case .field(let field): line += Array(Self.text(of: field, report).utf8)
      }
    }
    return line + [0x0a]
  }

  private static func text(of field: Field, _ report: AnimationReport) -> String {
    let image = report.image
    switch field {
    case .file: return report.input.name
    case .format: return image.format.rawValue
    case .width: return "\(image.canvasSize.width)"
    case .height: return "\(image.canvasSize.height)"
    case .frames: return "\(image.frames.count)"
    case .plays:
      if case .finite(let count) = image.playCount { return "\(count)" }
      return "forever"
    case .byteCount: return "\(image.byteCount)"
    case .damage: return "\(report.damage.count)"
    case .durationMilliseconds: return "\(report.shownDuration)"
    case .storedMilliseconds: return "\(report.storedDuration)"
    case .leastDelay:
      return "\(image.frames.map { Decimal($0.delay) }.min() ?? .init(thousandths: 0))"
    case .longestDelay:
      return "\(image.frames.map { Decimal($0.delay) }.max() ?? .init(thousandths: 0))"
    }
  }
}
