import Zoetrope
import ZoetropeProcess

/// How animations are written.
struct WritingChoices: Hashable {
  /// Nil if it follows from the output's name or from the input.
  var format: AnimationFormatChoice?
  var effort = EncodingEffort.balanced
  /// How much colours may differ; 0 is lossless.
  var tolerance = 0
  /// The maximum number of bytes of a file, and the properties that must be kept; nil for no limit.
  var budget: ByteBudget?
  /// Whether a GIF gets delays below 20 ms, which browsers show for 100 ms.
  var keepsShortDelays = false
  /// Whether transparent pixels keep their colours.
  var keepsHiddenColors = false
  /// How to reduce colours that a GIF cannot hold, and how many colours an APNG has.
  var reduction = ColorReduction()
  /// The number of threads; 0 is one per processor.
  var jobs = 0
  var isForced = false

  var writerOptions: AnimationWriterOptions {
    AnimationWriterOptions(
      effort: effort, keepsHiddenColors: keepsHiddenColors, colors: reduction.colors,
      dithering: reduction.dithering, transparency: reduction.transparency, tolerance: tolerance,
      parallelism: jobs)
  }

  func editOptions(delayPolicy: DelayPolicy) -> EditOptions {
    EditOptions(
      delayPolicy: delayPolicy, timing: timing, colors: reduction.colors,
      dithering: reduction.dithering,
      transparency: reduction.transparency, tolerance: tolerance, budget: budget, effort: effort,
      keepsHiddenColors: keepsHiddenColors,
      parallelism: jobs)
  }

  private var timing: AnimationWriterOptions.Timing { keepsShortDelays ? .exact : .browser }
}
