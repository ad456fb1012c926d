import Zoetrope
import ZoetropeProcess

/// The plan for converting one input. It is complete before any byte is written.
struct Conversion {
  let plan: EditPlan
  /// The finished file in memory, if it had to fit a byte limit. Nil otherwise.
  private let budgeted: BudgetedAnimation?
  /// The way in which each frame of the output is made.
  let steps: [ConversionStep]
  /// The ways in which the output differs from the input or from the request.
  private(set) var departures: [Departure]
  /// The structural damage of the input, and the damage that was found in frames that had to be decoded.
  let damage: [Damage]

  var format: AnimationFormat { plan.format }
  var size: PixelSize { plan.canvasSize }
  var playCount: PlayCount { plan.playCount }
  /// The number of frames whose colours are reduced. Nil if all frames are encoded and this is known only afterwards.
  var reducedCount: Int? { plan.rewriting == nil ? plan.reducedCount : nil }

  /// Plans the conversion of `image`. Decodes some or all frames if the plan depends on them.
  ///
  /// - Parameter droppedCount: The number of frames that `edits` drop for a preset.
  /// - Throws: `parameter` for edits that cannot be applied; `unwritable` if the format cannot store the result; the
  ///   errors of decoding; `cancelled` after a signal.
  init(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions, droppedCount: Int,
    _ progress: ProgressReporter
  ) throws(AnimatedImageError) {
    let isCancelled: @Sendable () -> Bool = { Signals.ending != nil }
    progress.enter("fit")
    // The message about an error begins a line.
    defer { progress.clear() }
    var last: WritingProgress?
    func report(_ made: WritingProgress) {
      last = made
      progress.expect(made)
      progress.update((made.frameCount, made.byteCount))
    }
    if let budget = options.budget {
      let found = try image.fitted(
        edits, options, to: budget, isCancelled: isCancelled, progress: report)
      progress.finish((found.plan.frames.count, found.bytes.count))
      (budgeted, plan) = (found, found.plan)
    } else {
      budgeted = nil
      plan = try EditPlan(image, edits, options, isCancelled: isCancelled, progress: report)
      if let last { progress.finish((plan.frames.count, last.byteCount)) }
    }
    let plan = plan
    let isKnown = plan.rewriting == nil
    let isOptimized = budgeted?.isOptimized ?? false
    let losesMetadata = budgeted?.losesMetadata ?? plan.losesMetadata
    steps = plan.frames.map { ConversionStep($0, isKnown: isKnown, isOptimized: isOptimized) }
    departures = Departure.ofTimes(
      plan.mergedCount, isExact: plan.hasExactDelays, keepsDuration: plan.keepsDuration)
    if droppedCount > 0 { departures.append(.frames(droppedCount)) }
    if let rate = budgeted?.settings.rate { departures.append(.rate(rate)) }
    guard let rewriting = plan.rewriting else {
      if plan.reducedCount > 0 { departures.append(.newColors(plan.reducedCount)) }
      if losesMetadata { departures.append(.metadata) }
      damage = plan.damage
      return
    }
    if plan.canvasSize != plan.crop.size { departures.append(.scaled) }
    if plan.isLossy { departures.append(.lossy(rewriting.options.tolerance)) }
    if plan.reducesColors { departures.append(.colors(rewriting.options.colors.limit)) }
    if plan.partialAlphaShare > 0 {
      departures.append(
        .transparency(plan.partialAlphaShare, isMatte: options.transparency.isMatte))
    }
    if plan.format.writable?.hasPoster == false, image.staticImage != nil {
      departures.append(.staticImage)
    }
    if losesMetadata { departures.append(.metadata) }
    var found = DecodingDamage(of: image)
    for item in rewriting.findings.damage { found.add(item) }
    damage = image.damage + found.items
  }

  /// Writes the output to `sink`.
  func write(
    to sink: some AnimationSink, progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let isCancelled: @Sendable () -> Bool = { Signals.ending != nil }
    if let budgeted {
      return try budgeted.write(to: sink, isCancelled: isCancelled, progress: progress)
    }
    return try plan.write(to: sink, isCancelled: isCancelled, progress: progress)
  }
}

/// The way in which one frame of the output is made.
struct ConversionStep: Hashable {
  enum Action: String, Hashable {
    /// The frame is copied byte for byte.
    case copied
    /// The compressed pixels are copied; the delay or the sequence numbers are new.
    case patched
    /// The pixels are compressed anew.
    case encoded
  }

  var source: Int
  var delay: FrameDelay
  var action: Action
  /// The rectangle whose pixels are compressed, or nil if it is not known in advance.
  var rect: PixelRect?
  /// The reason why the frame is compressed anew. Nil if it is copied, or if all frames are compressed anew.
  var reason: String?
  /// Whether the frame is new among copied ones, and is compressed in fewer colours than its picture has.
  var reducesColors = false
}

extension ConversionStep {
  /// Creates the step for `frame`.
  ///
  /// - Parameters:
  ///   - isKnown: Whether the rectangle that is compressed is known in advance.
  ///   - isOptimized: Whether copied frames were compressed again, because the file was too large.
  init(_ frame: EditPlan.Frame, isKnown: Bool, isOptimized: Bool) {
    switch frame.action {
    case .copied where isOptimized, .patched where isOptimized:
      self.init(
        source: frame.source, delay: frame.delay, action: .encoded, reason: "the file has to fit")
    case .copied: self.init(source: frame.source, delay: frame.delay, action: .copied)
    case .patched: self.init(source: frame.source, delay: frame.delay, action: .patched)
    case .encoded(let rect, let reason):
      self.init(
        source: frame.source, delay: frame.delay, action: .encoded,
        rect: isKnown && !isOptimized ? rect : nil, reason: reason.description)
      reducesColors = frame.reducesColors
    }
  }

  /// The action in words, for a line of the text that `--plan` prints.
  fileprivate var words: String {
    switch action {
    case .copied: "copied"
    case .patched: "pixels copied"
    case .encoded: "encoded\(reducesColors ? " in fewer colours" : ""), since \(reason ?? "")"
    }
  }

  /// Returns the plan as text, with one line for each run of consecutive frames that are made in the same way.
  static func text(_ steps: [ConversionStep]) -> String {
    var text = ""
    var start = 0
    while start < steps.count {
      var end = start + 1
      while end < steps.count, steps[end].words == steps[start].words,
        steps[end].source == steps[end - 1].source + 1
      {
        end += 1
      }
      let (first, last) = (steps[start].source, steps[end - 1].source)
      text +=
        end == start + 1
        ? "  frame \(start) is frame \(first) of the input: \(steps[start].words)\n"
        : "  frames \(start)-\(end - 1) are frames \(first)-\(last) of the input: "
          + "\(steps[start].words)\n"
      start = end
    }
    return text
  }
}

/// A way in which an output differs from its input or from the request.
enum Departure: Hashable {
  case scaled
  /// Colours differ by no more than this tolerance, which was requested or was chosen to fit a byte limit.
  case lossy(Int)
  /// The frame rate is limited to this number of frames per second, so that the output fits a byte limit.
  case rate(Int)
  /// This number of frames is dropped to meet the limit of a site.
  case frames(Int)
  /// The number of plays is set to this one to meet the limit of a site.
  case plays(PlayCount)
  /// The times at which frames end are rounded to times that the format can store.
  case rounded(keepsDuration: Bool)
  /// This number of frames is left out, because these frames are shown too briefly for the format.
  case dropped(Int, keepsDuration: Bool)
  case staticImage
  case metadata
  /// Colours are reduced to those of a palette, which has at most this number of them if the number was limited.
  case colors(Int?)
  /// The colours of this number of new frames are reduced, and the copied frames after them show these colours until
  /// they draw over them.
  case newColors(Int)
  /// Partly transparent pixels, which are this share of all pixels, are blended with a matte, or become opaque or fully
  /// transparent.
  case transparency(Double, isMatte: Bool)

  static func ofTimes(_ mergedCount: Int, isExact: Bool, keepsDuration: Bool) -> [Departure] {
    if mergedCount > 0 { return [.dropped(mergedCount, keepsDuration: keepsDuration)] }
    return isExact ? [] : [.rounded(keepsDuration: keepsDuration)]
  }

  /// The difference in words.
  var words: String {
    switch self {
    case .scaled: "scaled"
    case .lossy(let tolerance): "similar colours (lossy \(tolerance))"
    case .rate(let rate): "\(rate) frames per second"
    case .frames(let count): "\(count.counted("frame")) dropped for the site"
    case .plays(.indefinite): "set to endless plays for the site"
    case .plays(.finite(let count)): "set to \(count.counted("play")) for the site"
    case .rounded(let keepsDuration):
      "delays rounded, total duration \(keepsDuration ? "kept to within 5 ms" : "longer")"
    case .dropped(let count, let keepsDuration):
      "\(count.counted("frame")) dropped as too short to be shown, "
        + "total duration \(keepsDuration ? "kept to within 5 ms" : "longer")"
    case .staticImage: "static image left out"
    case .metadata: "metadata left out"
    case .colors(let count?): "colours reduced to \(count)"
    case .colors(nil): "colours reduced"
    case .newColors(let count):
      "colours reduced in \(count.counted("new frame")) "
        + "and where copied frames change nothing"
    case .transparency(_, let isMatte):
      "partly transparent pixels "
        + (isMatte ? "blended with the matte" : "made opaque or transparent")
    }
  }

  /// The identifier of the difference in JSON.
  enum Code: String, CaseIterable {
    case scaled, lossy, rate, frames, plays, rounded, dropped, staticImage, metadata, colors
    case transparency
  }

  var code: Code {
    switch self {
    case .scaled: .scaled
    case .lossy: .lossy
    case .rate: .rate
    case .frames: .frames
    case .plays: .plays
    case .rounded: .rounded
    case .dropped: .dropped
    case .staticImage: .staticImage
    case .metadata: .metadata
    case .colors, .newColors: .colors
    case .transparency: .transparency
    }
  }
}

extension [Departure] {
  /// The differences in words, also that the input is damaged, or that there are none.
  func words(isDamaged: Bool) -> String {
    if isEmpty { return isDamaged ? "damaged, otherwise exact" : "exact" }
    return ((isDamaged ? ["damaged"] : []) + map(\.words)).joined(separator: ", ")
  }

  /// Whether colours are reduced to those of a palette.
  var reduceColors: Bool { contains { $0.code == .colors } }

  /// Adds that colours are reduced, to `limit` if that is not nil, or replaces the number that was planned.
  mutating func reduceColors(to limit: Int?) {
    if let place = firstIndex(where: { $0.code == .colors }) {
      if limit != nil { self[place] = .colors(limit) }
    } else {
      append(.colors(limit))
    }
  }

  /// Writes the tolerance and the number of colours, if they are limited, as fields of the current JSON object.
  func writeNumbers(to json: inout JSONWriter) {
    for departure in self {
      switch departure {
      case .lossy(let tolerance): json.field("lossy", tolerance)
      case .colors(let count?): json.field("colors", count)
      default: break
      }
    }
  }
}
