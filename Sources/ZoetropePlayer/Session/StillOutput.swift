internal import SystemPackage
internal import Zoetrope
package import ZoetropeProcess
internal import ZoetropeTerminal

/// Writes one frame of each file as characters, to a pipe, a file or a terminal without cursor movement.
///
/// No queries and no animation are written, because a pipe cannot answer and would receive an endless stream of escape
/// sequences.
package struct StillOutput {
  let settings: PlayerSettings
  let inputs: [InputFile]

  package init(_ inputs: [InputFile], settings: PlayerSettings) {
    (self.inputs, self.settings) = (inputs, settings)
  }

  package func run() -> ExitStatus {
    if let mode = settings.mode, mode.usesGraphics {
      CommandFailure(
        .terminal, code: "terminal",
        "\(mode.name) needs a terminal, but standard output is not one"
      ).report(asJSON: false)
      return .terminal
    }
    var report = PlayReport(inputs.count)
    for (number, input) in inputs.enumerated() {
      do throws(CommandFailure) {
        let picture = try picture(of: try open(input), name: input.name)
        // If the reader has gone away, nothing more is written, but earlier failures still count.
        if try OutputStream.print(picture) == .readerGone { return report.finish() }
      } catch {
        report.add(error, of: number)
      }
    }
    return report.finish()
  }

  /// Opens an image. A stream is read only as far as the frame requires.
  private func open(_ input: InputFile) throws(CommandFailure) -> AnimatedImage {
    let opened = try settings.open(input)
    let stream: StreamedImage
    switch opened {
    case .whole(let image): return image
    case .stream(let image): stream = image
    }
    let index = settings.start?.index(in: opened, policy: settings.playback.delayPolicy) ?? 0
    BlockingTask.run { [wallTime = settings.wallTime] in
      let limit = wallTime.map { time in
        Task {
          do { try await Task.sleep(for: time) } catch { return }
          stream.cancel()
        }
      }
      _ = await stream.waitForFrame(index)
      limit?.cancel()
    }
    if let image = stream.image { return image }
    let error =
      stream.progress.ending?.error ?? AnimatedImageError(.noFrames, "no frame has arrived")
    throw CommandFailure(error, file: input.name, damage: settings.decoding.damage)
  }

  private func picture(of image: AnimatedImage, name: String) throws(CommandFailure) -> [UInt8] {
    let index = settings.start?.index(in: image, policy: settings.playback.delayPolicy) ?? 0
    let frame: CompositedFrame
    do throws(AnimatedImageError) {
      frame = try RenderedReader(image, cache: settings.store).frame(at: index)
    } catch {
      throw CommandFailure(error, file: name, damage: settings.decoding.damage)
    }
    var capabilities = TerminalCapabilities(environment: .current)
    // There are no colours unless they are requested, because it is unknown who reads the output.
    capabilities.colors = settings.colors ?? (settings.mode == nil ? .none : capabilities.colors)
    let mode =
      settings.mode
      ?? (capabilities.colors == .none || !capabilities.hasUTF8 ? .dots(.ascii) : .blocks(.fine))
    let screen = ScreenSize.ofEnvironment
    let room = CellRect(column: 0, row: 0, columns: screen.columns, rows: screen.rows - 1)
    let fit = PictureFit(fit: settings.fit, filter: settings.filter)
    let layout = fit.layout(
      of: frame.bitmap.size, isPixelArt: PixelArt.isLikely(frame.bitmap), in: room, screen: screen,
      mode: mode, isCentered: false
    ).layout
    var options = EncodingOptions.exact
    options.backdrop = settings.backdrop.backdrop ?? .terminal
    var encoder = mode.encoder(
      layout: layout, screen: screen, pictureSize: frame.bitmap.size, capabilities: capabilities,
      options: options)
    // The row of the cursor is unknown, so only line feeds move it to the next row.
    var pen = PenState(column: 0, row: 0, foreground: .default, background: .default)
    pen.isAnchored = true
    var output: [UInt8] = []
    encoder.encode(
      endingWithoutMemory(try frame.bitmap.converted(to: .rgba8)), changed: nil, pen: &pen,
      into: &output)
    if capabilities.colors != .none { output += Array("\u{1B}[m".utf8) }
    return (output + [10]).withoutReturns
  }
}

extension [UInt8] {
  /// The bytes without the carriage return before each line feed, so that rows of characters end as lines of text do.
  var withoutReturns: [UInt8] {
    indices.filter { self[$0] != 13 || $0 + 1 == count || self[$0 + 1] != 10 }.map { self[$0] }
  }
}
