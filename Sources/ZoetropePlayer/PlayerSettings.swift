package import Zoetrope
package import ZoetropeProcess
package import ZoetropeTerminal

/// How files are played.
package struct PlayerSettings: Sendable {
  /// Nil chooses the terminal's best mode.
  package var mode: DrawingMode?
  /// Nil uses the terminal's.
  package var colors: ColorDepth?
  /// Nil uses the multiplexer in which the program runs.
  package var passthrough: Passthrough?
  package var backdrop = PlayerBackdrop.terminal
  /// Nil fits the whole picture, and pixel art by a whole factor.
  package var fit: FrameLayout.Fit?
  /// The filter that scales graphics; nil smooths, except pixel art.
  package var filter: ScalingFilter?
  /// Whether the mouse seeks, zooms and moves the picture; never inline.
  package var usesMouse = true
  package var showsStatus = true
  /// Whether the picture is drawn inline instead of on the alternate screen.
  package var isInline = false
  /// Whether every change is sent, however small.
  package var isExact = false
  /// Whether the last frame stays until a key is pressed; nil does so for a single file.
  package var holds: Bool?
  /// Whether one frame is drawn inline, without playing.
  package var isStill = false
  package var wallTime: Duration?
  package var start: PlayStart?
  package var playback = PlaybackOptions()
  package var decoding = DecodingOptions()
  /// Whether files are played while their bytes arrive.
  package var reading = InputReading.whole
  /// Decoded frames on disk; nil decodes everything. There is no cache in memory: playing takes a few
  /// canvases, however long the animation is.
  package var store: FrameStore?
  /// Where the trace goes; `-` is standard output.
  package var trace: String?
  /// Whether the trace may replace a file.
  package var isForced = false

  package init() {}

  /// Opens `input`. For a stream, waits for its canvas, at most for ``wallTime``.
  func open(_ input: InputFile) throws(CommandFailure) -> OpenedInput {
    let end = wallTime.map { ContinuousClock.now + $0 }
    do throws(CommandFailure) {
      return try input.open(decoding, reading: reading, knownTo: store) {
        end.map { $0 <= .now } ?? false
      }
    } catch {
      guard error.code == AnimatedImageError.Code.cancelled.name, Signals.ending == nil else {
        throw error
      }
      throw CommandFailure(
        .undecodable, code: AnimatedImageError.Code.noFrames.name,
        "no frame arrived before --duration ended", file: input.name)
    }
  }
}
