package import Zoetrope
package import ZoetropeProcess
package import ZoetropeTerminal

/// The settings with which files are played.
package struct PlayerSettings: Sendable {
  /// The drawing mode, or nil to choose the best mode that the terminal supports.
  package var mode: DrawingMode?
  /// The colour depth, or nil to use that of the terminal.
  package var colors: ColorDepth?
  /// The multiplexer through which graphics are passed, or nil to use the multiplexer in which the program runs.
  package var passthrough: Passthrough?
  package var backdrop = PlayerBackdrop.terminal
  /// The fit of the picture. If it is nil, the whole picture is fitted into the available room, and pixel art is scaled
  /// by a whole factor.
  package var fit: FrameLayout.Fit?
  /// The filter that scales graphics. If it is nil, pictures are smoothed, except for pixel art.
  package var filter: ScalingFilter?
  /// Whether the mouse seeks, zooms and moves the picture. The mouse is never used for an inline picture.
  package var usesMouse = true
  package var showsStatus = true
  /// Whether the picture is drawn inline instead of on the alternate screen.
  package var isInline = false
  /// Whether every change of a picture is sent, however small the change is.
  package var isExact = false
  /// Whether the last frame stays until a key is pressed. If it is nil, the last frame stays only if there is a single
  /// file.
  package var holds: Bool?
  /// Whether a single frame is drawn inline and nothing is played.
  package var isStill = false
  package var wallTime: Duration?
  package var start: PlayStart?
  package var playback = PlaybackOptions()
  package var decoding = DecodingOptions()
  /// Whether files are read as a whole first, or played while their bytes arrive.
  package var reading = InputReading.whole
  /// The store on disk that contains decoded frames, or nil to decode every frame. There is no cache in memory:
  /// playback takes the memory of a few canvases, however long the animation is.
  package var store: FrameStore?
  /// The name of the file to which the trace is written, or nil for no trace. The name `-` means standard output.
  package var trace: String?
  /// Whether the trace is written even if other files are played next.
  package var writesTrace = true
  /// Whether the trace may replace an existing file.
  package var isForced = false

  package init() {}

  /// Opens `input`. If it is a stream, waits until the canvas of the stream is known, but no longer than ``wallTime``.
  ///
  /// - Throws: The errors of opening `input` and of ``checkStart(in:of:)``.
  func open(_ input: InputFile) throws(CommandFailure) -> OpenedInput {
    let end = wallTime.map { ContinuousClock.now + $0 }
    let opened: OpenedInput
    do throws(CommandFailure) {
      opened = try input.open(decoding, reading: reading, knownTo: store) {
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
    try checkStart(in: opened, of: input)
    return opened
  }

  /// Checks that the frame at which playback is to start exists. The frames of a stream are not known yet.
  ///
  /// - Throws: A usage failure with the number that the user gave, even if it counts from the end.
  func checkStart(in opened: OpenedInput, of input: InputFile) throws(CommandFailure) {
    guard case .whole(let image) = opened, case .frame(let number)? = start else { return }
    let count = image.frames.count
    guard !(-count..<count).contains(number) else { return }
    throw CommandFailure(
      AnimatedImageError.noFrame(number, of: count, format: image.format), file: input.name,
      damage: decoding.damage)
  }
}
