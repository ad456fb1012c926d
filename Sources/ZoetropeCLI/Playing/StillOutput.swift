import Glibc
import SystemPackage
import Zoetrope
import ZoetropeTerminal

/// Writes one frame of each file as characters, for pipes, files and terminals without a cursor.
///
/// Nothing is asked and nothing moves: an endless stream of escapes has no place in a pipe.
struct StillOutput {
  let settings: PlayerSettings
  let inputs: [InputFile]

  func run() -> ExitStatus {
    if case .graphics(let graphics)? = settings.mode, graphics != .cells {
      CommandRunner.report(
        CommandFailure(
          .terminal, code: "terminal",
          "\(graphics.rawValue) needs a terminal, and standard output is none"), asJSON: false)
      return .terminal
    }
    var report = PlayReport(inputs.count)
    for input in inputs {
      do throws(CommandFailure) {
        let image = try input.open(settings.decoding)
        try CommandRunner.print(try picture(of: image, name: input.name))
      } catch {
        if error.status == .success { return .success }
        report.add(error)
      }
    }
    return report.finish()
  }

  private func picture(of image: AnimatedImage, name: String) throws(CommandFailure) -> [UInt8] {
    let index = settings.start?.index(in: image, policy: settings.playback.delayPolicy) ?? 0
    let frame: CompositedFrame
    do throws(AnimatedImageError) {
      frame = try FrameReader(image).frame(at: index)
    } catch {
      throw CommandFailure(error, file: name, damage: settings.decoding.damage)
    }
    var capabilities = TerminalCapabilities(environment: .current)
    // Without colours unless they are asked for: what reads the pipe is not known.
    capabilities.colors = settings.colors ?? (settings.mode == nil ? .none : capabilities.colors)
    let mode =
      settings.mode
      ?? (capabilities.colors == .none || !capabilities.hasUTF8 ? .dots(.ascii) : .blocks(.fine))
    let screen = Self.size()
    let room = CellRect(column: 0, row: 0, columns: screen.columns, rows: screen.rows - 1)
    let layout = FrameLayout(
      of: frame.bitmap.size, in: room, screen: screen, fit: settings.fit, isCentered: false)
    var options = EncodingOptions.exact
    options.backdrop = settings.backdrop.backdrop ?? .terminal
    var encoder = mode.encoder(
      layout: layout, screen: screen, pictureSize: frame.bitmap.size, capabilities: capabilities,
      options: options)
    // From the first column of an unknown row: rows are reached by line feeds alone.
    var pen = PenState(column: 0, row: 0, foreground: .default, background: .default)
    var output: [UInt8] = []
    encoder.encode(frame.bitmap.converted(to: .rgba8), changed: nil, pen: &pen, into: &output)
    if capabilities.colors != .none { output += Array("\u{1B}[m".utf8) }
    output.append(10)
    // Rows end as lines of text do: nothing between here and the reader needs the returns.
    return output.enumerated().filter { index, byte in
      byte != 13 || index + 1 == output.count || output[index + 1] != 10
    }.map(\.element)
  }

  /// The size that `COLUMNS` and `LINES` tell, else 80 x 24.
  private static func size() -> ScreenSize {
    func number(_ name: String) -> Int? {
      // The string belongs to the environment, which nothing here changes; it is copied at once.
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe Int(String(cString: value)).flatMap { (2...1000).contains($0) ? $0 : nil }
    }
    return ScreenSize(columns: number("COLUMNS") ?? 80, rows: number("LINES") ?? 24)
  }
}
