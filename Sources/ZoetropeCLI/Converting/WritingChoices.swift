import Zoetrope
import ZoetropeProcess

/// The user's choices for writing animations.
struct WritingChoices: Hashable {
  /// The format, or nil to determine it from the output's name or from the input.
  var format: AnimationFormat?
  var effort = EncodingEffort.balanced
  /// The tolerance for differences between colours. The value 0 is lossless.
  var tolerance = 0
  /// The maximum number of bytes of a file, and the properties that must not be changed to meet this limit. Nil for no
  /// limit.
  var budget: ByteBudget?
  /// Whether delays that browsers show for 100 ms are stored, even if no input has them.
  var keepsShortDelays = false
  /// Whether fully transparent pixels keep their colours.
  var keepsHiddenColors = false
  /// The way in which colours that a GIF cannot store are reduced, and the maximum number of colours of an APNG.
  var reduction = ColorReduction()
  /// The number of threads. The value 0 means one thread per processor.
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
      delayPolicy: delayPolicy, shortDelays: shortDelays, colors: reduction.colors,
      dithering: reduction.dithering,
      transparency: reduction.transparency, tolerance: tolerance, budget: budget, effort: effort,
      keepsHiddenColors: keepsHiddenColors,
      parallelism: jobs)
  }

  /// Throws if a choice has no effect on any of the outputs, whose formats are `formats`. The format is nil for an output
  /// that gets the format of its input, which may be any.
  func check(_ formats: [AnimationFormat?]) throws(CommandFailure) {
    guard let first = formats.first else { return }
    /// Returns the first format if `holds` is true of all formats.
    func common(_ holds: (WritableFormat) -> Bool) -> AnimationFormat? {
      formats.allSatisfy { $0?.writable.map(holds) ?? false } ? first : nil
    }
    if let name = common({ !$0.hasPalettes })?.nameWithArticle {
      if reduction.transparency.isMatte {
        throw .usage("--matte has no effect: \(name) stores partly transparent pixels")
      }
      if reduction.dithering != .automatic, reduction.colors == .automatic, budget == nil {
        throw .usage("--dither has no effect: \(name) stores all colours without --colors")
      }
    }
    if keepsHiddenColors, let name = common({ $0.hasPalettes })?.nameWithArticle {
      throw .usage("--hidden-colors has no effect: \(name) has only one transparent colour")
    }
  }

  private var shortDelays: AnimationWriterOptions.ShortDelays {
    keepsShortDelays ? .keep : .merge
  }
}
