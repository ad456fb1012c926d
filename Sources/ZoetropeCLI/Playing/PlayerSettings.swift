import Zoetrope
import ZoetropeTerminal

/// What the command line says of playing on a terminal.
struct PlayerSettings: Sendable {
  /// Nil chooses what suits the terminal best.
  var mode: DrawingMode?
  /// Nil believes the terminal.
  var colors: ColorDepth?
  /// Nil takes the multiplexer that the terminal is inside of.
  var passthrough: Passthrough?
  var backdrop = BackdropArgument.terminal
  var fit = FrameLayout.Fit.contain
  var showsStatus = true
  /// Whether the picture stays in the terminal's text instead of on a screen of its own.
  var isInline = false
  /// Whether every change is sent, however small.
  var isExact = false
  /// Whether the last frame stays until a key is pressed; nil decides by the number of files.
  var holds: Bool?
  /// Whether one frame is drawn and left, without taking the terminal over for longer.
  var isStill = false
  var wallTime: Duration?
  var start: StartArgument?
  var playback = PlaybackOptions()
  var decoding = DecodingOptions()
  var trace: String?
  /// Whether the trace may replace a file.
  var isForced = false
}
