package import Zoetrope
package import ZoetropeProcess
package import ZoetropeTerminal

/// How files are played.
package struct PlayerSettings: Sendable {
  /// Nil chooses the best for the terminal.
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
  /// Decoded frames on disk; nil decodes everything. Not a cache in memory too: playing is to take a
  /// few canvases, however long the animation is.
  package var store: FrameStore?
  /// Where the trace goes; `-` is standard output.
  package var trace: String?
  /// Whether the trace may replace a file.
  package var isForced = false

  package init() {}

  /// Opens `input`; of a stream, waits for its canvas, at most for ``wallTime``.
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
        "no frame has arrived in the time of --duration", file: input.name)
    }
  }
}

/// Where playing starts.
package enum PlayStart: Sendable, Hashable {
  /// A frame, counted from 0; negative from the end.
  case frame(Int)
  case time(Duration)

  /// The frame of `image` that is meant.
  func index(in image: AnimatedImage, policy: DelayPolicy) -> Int {
    switch self {
    case .frame(let number): number < 0 ? image.frames.count + number : number
    case .time(let time): image.frameIndex(at: time, policy: policy)
    }
  }

  /// The frame that is meant; of a stream only if it ``isKnownAtOnce``.
  func index(in input: OpenedInput, policy: DelayPolicy) -> Int {
    switch (input, self) {
    case (.whole(let image), _): index(in: image, policy: policy)
    case (.stream, .frame(let number)): max(number, 0)
    case (.stream, .time): 0
    }
  }

  /// Whether it names a frame by a number from the start, so that no other frame need be known.
  package var isKnownAtOnce: Bool {
    if case .frame(let number) = self { number >= 0 } else { false }
  }
}

/// What is behind transparent pixels.
package enum PlayerBackdrop: Sendable, Hashable {
  /// The terminal's own background; images keep their transparency.
  case terminal
  case checker
  case color(red: UInt8, green: UInt8, blue: UInt8)

  /// The backdrops that a key steps through.
  static let cycle: [PlayerBackdrop] = [
    .terminal, .checker, .color(red: 0, green: 0, blue: 0),
    .color(red: 255, green: 255, blue: 255),
  ]

  /// For the status line.
  package var name: String {
    switch self {
    case .terminal: "terminal"
    case .checker: "checker"
    case .color(0, 0, 0): "black"
    case .color(255, 255, 255): "white"
    case .color: "colour"
    }
  }

  /// Nil for the terminal's own.
  var backdrop: Backdrop? {
    switch self {
    case .terminal: nil
    case .checker: .checker
    case .color(let red, let green, let blue): .color(red: red, green: green, blue: blue)
    }
  }
}
