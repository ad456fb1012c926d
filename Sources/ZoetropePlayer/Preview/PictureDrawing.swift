package import Zoetrope
package import ZoetropeProcess
import ZoetropeTerminal

/// Draws single pictures on standard output, either at a given place of the screen or at the cursor. Successive
/// pictures at the cursor are drawn below one another.
package struct PictureDrawing {
  private let settings: PreviewSettings
  private let output = PreviewOutput()
  /// The capabilities that the terminal reported, or nil if it was not queried.
  private let probed: TerminalCapabilities?

  /// Creates a value that draws on standard output.
  ///
  /// - Throws: A usage failure if no drawing mode can be chosen.
  package init(_ settings: PreviewSettings) throws(CommandFailure) {
    self.settings = settings
    guard output.isTerminal || settings.mode != nil else {
      throw .usage(
        "standard output is not a terminal; write files with -o, or draw anyway with --protocol")
    }
    // The terminal can be queried if no other program uses it. Even if the protocol is given, the answers provide the
    // colours and the size of a cell.
    let mayAsk = output.isTerminal && settings.place == nil
    probed = mayAsk ? TerminalTakeover.probe() : nil
    // A target is created here so that usage errors are found before any file is opened.
    _ = try target()
  }

  private func target() throws(CommandFailure) -> PreviewTarget {
    try PreviewTarget(settings, isTerminal: output.isTerminal, probed: probed)
  }

  /// Draws `bitmap`. If a signal interrupts the drawing, the incomplete picture is removed.
  package func draw(_ bitmap: Bitmap) throws(CommandFailure) -> Delivery {
    let target = try target()
    var canvas = PreviewCanvas(target)
    let bytes: [UInt8]
    if target.isAtCursor {
      bytes = bytesAtCursor(bitmap, target)
    } else {
      bytes = canvas.bytes(showing: bitmap, index: 0, changed: nil)
    }
    Signals.catchForPreview()
    defer { Signals.endPreview() }
    let outcome = output.write(bytes)
    if outcome == .cut {
      output.finish(target.abort + PreviewCanvas.close + canvas.removal)
    }
    if let failure = CommandFailure.interruption() { throw failure }
    if case .failed(let failure) = outcome { throw failure }
    guard outcome == .gone else { return .complete }
    if output.isTerminal {
      throw CommandFailure(.hungUp, code: "closedPipe", "the terminal has been closed")
    }
    return .readerGone
  }

  private func bytesAtCursor(_ bitmap: Bitmap, _ target: PreviewTarget) -> [UInt8] {
    let picture = endingWithoutMemory(try bitmap.converted(to: .rgba8))
    var encoder = target.encoder(for: picture.size)
    var pen = PenState(column: 0, row: 0, foreground: .default, background: .default)
    pen.isAnchored = true
    var drawn: [UInt8] = []
    encoder.encode(picture, changed: nil, pen: &pen, into: &drawn)
    guard target.mode.usesGraphics else {
      if target.capabilities.colors != .none { drawn += Array("\u{1B}[m".utf8) }
      return output.isTerminal ? [13] + drawn + [13, 10] : (drawn + [10]).withoutReturns
    }
    // The rows of the picture are scrolled in first. The cursor then moves back to the first of them, and its position
    // is saved.
    let rows = [UInt8](repeating: 10, count: encoder.area.rows)
    let start = Array("\u{1B}[\(encoder.area.rows)A\u{1B}[m\u{1B}7".utf8)
    return [13] + rows + start + drawn + PreviewCanvas.close + [13] + rows
  }

  /// Removes a picture that was drawn with these settings. An image of the kitty protocol is removed by its number, and
  /// any other picture by erasing its cells.
  package static func clear(_ settings: PreviewSettings) throws(CommandFailure) {
    let output = PreviewOutput()
    let target = try PreviewTarget(settings, isTerminal: output.isTerminal)
    if target.isKitty, settings.number == nil {
      throw .usage("to remove a kitty image, --clear needs the picture's --id")
    }
    if target.isAtCursor, !target.isKitty || target.passthrough == .tmux {
      throw .usage("--clear needs the picture's place: --place COLSxROWS@X,Y")
    }
    Signals.catchForPreview()
    defer { Signals.endPreview() }
    let bytes = target.removal(from: target.room)
    let outcome = output.write(bytes)
    if outcome == .cut { output.finish(target.abort + PreviewCanvas.close + bytes) }
    if let failure = CommandFailure.interruption() { throw failure }
    if case .failed(let failure) = outcome { throw failure }
  }
}
