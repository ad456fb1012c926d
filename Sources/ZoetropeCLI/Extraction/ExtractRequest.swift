import Zoetrope

/// `zoetrope extract` as a value.
struct ExtractRequest: Hashable {
  var files: [String]
  var output = "-"
  var selection = FrameSelection()
  /// Pictures by the clock instead of the frames; nil for the frames.
  var rate: PictureRate?
  /// Stored frames instead of composited ones.
  var isRaw = false
  /// How frames are scaled; nil when they are not.
  var rendering: Rendering?
  var format = OutputFormat.png
  var staticImage = StaticImageChoice.skip
  var manifest: String?
  /// How long each frame is shown, for everything that names a time.
  var policy = DelayPolicy.browser
  /// Threads; 0 is one for each processor.
  var jobs = 0
  var isForced = false
  var isResuming = false
  var progress = ProgressStyle.auto
  var isQuiet = false
  var options = DecodingOptions()

  /// The options that files are opened with.
  var decodingOptions: DecodingOptions {
    var options = options
    // Encoding a PNG takes some ten times as long as decoding its frame.
    options.parallelism = format == .png ? (threadCount + 7) / 8 : threadCount
    return options
  }

  /// Whether errors are JSON too: whoever reads progress as JSON is a program.
  var reportsJSON: Bool { progress == .json }
}
