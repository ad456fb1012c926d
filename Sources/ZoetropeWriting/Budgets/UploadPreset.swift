/// The limits that a site or app sets for an emoji or sticker.
///
/// ``AnimatedImage/write(_:for:to:options:progress:)`` writes a file that meets a preset.
///
/// Every limit of a preset was read in the preset's ``source``, or in a copy of it, on the preset's ``date``. Limits
/// that could not be read there are left out, and so are presets without any known limit. Where a source says KB, the
/// smaller reading of 1,000 bytes is assumed. Slack documents no picture size: 128x128 is the advice of other sites,
/// not a documented limit.
public struct UploadPreset: Sendable, Hashable {
  /// The size that pictures must have, given as width and height.
  package enum Size: Sendable, Hashable {
    case exactly(Int, Int)
    case within(Int, Int)
    /// Pictures are at most as large as the given size, and their longer side has at least the smaller of the two
    /// numbers.
    case touching(Int, Int)
  }

  /// The name of the preset, such as `slack-emoji`, as the tool's option `--for` takes it.
  public let name: String
  /// The limits in a few words.
  public let summary: String
  /// The allowed formats. The first is preferred.
  public let formats: [AnimationFormat]
  package let size: Size
  /// The maximum size of the file in bytes.
  public let byteLimit: Int
  package var frames: ClosedRange<Int>? = nil
  /// The maximum duration of one play, in seconds.
  package var seconds: Int? = nil
  package var playCount: PlayCount? = nil
  /// The allowed numbers of plays. All plays together take at most ``seconds``.
  package var plays: ClosedRange<Int>? = nil
  /// Whether an APNG has to store RGBA, because iOS shows only a still picture of an APNG with a palette (Signal-iOS
  /// issue 4611).
  package var needsRGBA = false
  /// The official source of the limits, which begins with a web address.
  public let source: String
  /// The date on which the preset was last compared with its source, as in `2026-11-26`.
  public let date: String
}

extension UploadPreset {
  /// An emoji of Slack.
  public static let slackEmoji = UploadPreset(
    name: "slack-emoji", summary: "GIF, 128x128, 128 kB, 50 frames", formats: [.gif],
    size: .within(128, 128), byteLimit: 128_000, frames: 1...50,
    source:
      "https://slack.com/help/articles/206870177-Add-custom-emoji-and-aliases-to-your-workspace",
    date: "2026-11-26")
  /// An emoji of Discord.
  public static let discordEmoji = UploadPreset(
    name: "discord-emoji", summary: "GIF, 128x128, 256 kB", formats: [.gif],
    size: .within(128, 128), byteLimit: 256_000,
    source: "https://docs.discord.com/developers/resources/emoji", date: "2026-11-26")
  /// A sticker of Discord.
  public static let discordSticker = UploadPreset(
    name: "discord-sticker", summary: "APNG or GIF, 320x320, 512 kB, 5 s",
    formats: [.apng, .gif],
    size: .exactly(320, 320), byteLimit: 512_000, seconds: 5,
    source: "https://docs.discord.com/developers/resources/sticker#create-guild-sticker",
    date: "2026-11-26")
  /// A sticker of Signal.
  public static let signalSticker = UploadPreset(
    name: "signal-sticker", summary: "APNG, 512x512, 300 KiB", formats: [.apng],
    size: .exactly(512, 512), byteLimit: 300 * 1024, playCount: .indefinite, needsRGBA: true,
    source: "https://github.com/signalapp/Signal-Desktop (sticker-creator)", date: "2026-11-26")
  /// An animated sticker of LINE.
  public static let lineSticker = UploadPreset(
    name: "line-sticker", summary: "APNG, 320x270, 300 kB, 5 to 20 frames, 4 s",
    formats: [.apng], size: .touching(320, 270), byteLimit: 300_000, frames: 5...20, seconds: 4,
    plays: 1...4, needsRGBA: true,
    source: "https://creator.line.me/en/guideline/animationsticker/", date: "2026-11-26")
  /// A small sticker of iMessage.
  public static let imessageSmall = UploadPreset(
    name: "imessage-small", summary: "APNG or GIF, 300x300, 500 kB", formats: [.apng, .gif],
    size: .exactly(300, 300), byteLimit: 499_999, needsRGBA: true,
    source: "https://developer.apple.com/documentation/messages/msstickersize/small",
    date: "2026-11-26")
  /// A sticker of iMessage in the regular size.
  public static let imessageMedium = UploadPreset(
    name: "imessage-medium", summary: "APNG or GIF, 408x408, 500 kB", formats: [.apng, .gif],
    size: .exactly(408, 408), byteLimit: 499_999, needsRGBA: true,
    source: "https://developer.apple.com/documentation/messages/msstickersize/regular",
    date: "2026-11-26")
  /// A large sticker of iMessage.
  public static let imessageLarge = UploadPreset(
    name: "imessage-large", summary: "APNG or GIF, 618x618, 500 kB", formats: [.apng, .gif],
    size: .exactly(618, 618), byteLimit: 499_999, needsRGBA: true,
    source: "https://developer.apple.com/documentation/messages/msstickersize/large",
    date: "2026-11-26")
  /// An animated emote of Twitch.
  public static let twitchEmote = UploadPreset(
    name: "twitch-emote", summary: "GIF, 112x112, 1 MB, 60 frames", formats: [.gif],
    size: .exactly(112, 112), byteLimit: 1_000_000, frames: 1...60,
    source: "https://help.twitch.tv/s/article/subscriber-emote-guide", date: "2026-11-26")

  /// All presets.
  public static let all: [UploadPreset] = [
    slackEmoji, discordEmoji, discordSticker, signalSticker, lineSticker, imessageSmall,
    imessageMedium, imessageLarge, twitchEmote,
  ]

  /// Sites without a preset, and the format that each of them accepts instead of GIF and APNG.
  package static let others = ["telegram": "WebM", "whatsapp": "WebP"]

  /// Returns the preset with this ``name``, or nil if there is none.
  public init?(named name: String) {
    guard let preset = Self.all.first(where: { $0.name == name }) else { return nil }
    self = preset
  }
}

extension UploadPreset {
  /// Adds the preset's requirements to `edits` and `options`. Returns the number of frames that are dropped for it.
  ///
  /// - Throws: `limitExceeded` if the animation does not meet a limit, and scaling it or dropping frames cannot help or
  ///   is excluded by ``EditOptions/budget``; `parameter` if the preset does not allow the format or the number of plays
  ///   that `edits` set; the errors of the edits.
  package func apply(
    to edits: inout [AnimationEdit], _ options: inout EditOptions, of image: AnimatedImage
  ) throws(AnimatedImageError) -> Int {
    let format = options.format ?? image.format.outputFormat
    guard formats.contains(format) else {
      throw AnimatedImageError(
        .parameter,
        "\(name) requires \(formats[0].nameWithArticle), but the output would be "
          + format.nameWithArticle)
    }
    let chosenPlays = edits.last { if case .playCount = $0.kind { true } else { false } }
    if let playCount {
      let required = AnimationEdit.playCount(playCount)
      if let chosenPlays, chosenPlays != required {
        throw AnimatedImageError(
          .parameter, "\(name) requires \(required), not \(chosenPlays)")
      }
      edits.append(required)
    }
    let policy = options.delayPolicy
    func timeline() throws(AnimatedImageError) -> EditTimeline {
      try EditTimeline(image, edits, policy: policy)
    }
    var line = try timeline()
    let frameCount = line.showings.count
    let duration = Double(line.ticks) / Double(line.timescale)
    if let seconds, duration > Double(seconds) {
      throw refusal(
        "one play takes \((duration * 100).rounded() / 100) s, but at most \(seconds) s are allowed",
        LimitExcess(
          .outputDuration, found: Int(min(duration * 1e9, 1e18)), allowed: seconds * 1_000_000_000))
    }
    if let plays, let seconds {
      let most =
        duration > 0
        ? Int(min(Double(plays.upperBound), Double(seconds) / duration)) : plays.upperBound
      let count = if case .finite(let count) = line.playCount { count } else { Int.max }
      if count < plays.lowerBound || count > most {
        guard chosenPlays == nil else {
          throw refusal(
            "only \(plays.lowerBound) to \(plays.upperBound) plays, of at most \(seconds) s in all, "
              + "are allowed",
            LimitExcess(
              .outputDuration, found: Int(min(Double(count) * duration * 1e9, 1e18)),
              allowed: seconds * 1_000_000_000))
        }
        edits.append(.playCount(.finite(most)))
      }
    }
    if let frames {
      guard frameCount >= frames.lowerBound else {
        throw refusal(
          "there are \(frameCount) frames, but at least \(frames.lowerBound) are required",
          LimitExcess(.outputFrames, found: frameCount, allowed: frames.lowerBound))
      }
      guard frameCount <= frames.upperBound || options.budget?.keepsFrameRate != true else {
        throw refusal(
          "all \(frameCount) frames must be kept, but at most \(frames.upperBound) are allowed",
          LimitExcess(.outputFrames, found: frameCount, allowed: frames.upperBound))
      }
      var wanted = frames.upperBound
      while line.showings.count > frames.upperBound, wanted > 0, duration > 0 {
        let before = edits
        edits.append(.frameCount(wanted))
        line = try timeline()
        // There may still be too many frames, because the first frame is kept even if its duration is zero.
        if line.showings.count > frames.upperBound { edits = before }
        wanted -= 1
      }
    }
    let isScaled = edits.contains { if case .resize = $0.kind { true } else { false } }
    let pictures =
      line.rendering.map { Rendition($0, of: line.canvas.size).size } ?? line.canvas.size
    if !fits(pictures) {
      guard options.budget?.keepsSize != true else {
        throw refusal(
          "pictures must keep their size of \(pictures), but \(sizeInWords)", sides(pictures))
      }
      // The chosen size is not changed, so that no search for a smaller file has to fail first.
      guard !isScaled else {
        throw refusal("pictures get a size of \(pictures), but \(sizeInWords)", sides(pictures))
      }
      edits.append(try scaling(of: line.canvas.size))
    }
    var budget = options.budget ?? ByteBudget(byteLimit: byteLimit)
    budget.byteLimit = min(budget.byteLimit, byteLimit)
    if case .within = size {} else { budget.keepsSize = true }
    if frames.map({ $0.lowerBound > 1 }) ?? false { budget.keepsFrameRate = true }
    options.budget = budget
    options.storesRGBA = needsRGBA
    return frameCount - line.showings.count
  }

  private var sizeInWords: String {
    switch size {
    case .exactly(let width, let height): "\(width)x\(height) is required"
    case .within(let width, let height): "at most \(width)x\(height) is allowed"
    case .touching(let width, let height):
      "at most \(width)x\(height), and a side of at least \(min(width, height)), is required"
    }
  }

  /// Checks that the output of `plan` meets the preset's limits on size, frames and duration. What counts is how long
  /// browsers show it, which is longer than edits say if delays are stored that browsers replace.
  package func check(_ plan: EditPlan) throws(AnimatedImageError) {
    let (size, frameCount) = (plan.canvasSize, plan.frames.count)
    guard fits(size) else {
      throw refusal("pictures of \(size) are too large or too small", sides(size))
    }
    if let frames, !frames.contains(frameCount) {
      let isOver = frameCount > frames.upperBound
      throw refusal(
        "the output would have \(frameCount) frames, but \(frames.lowerBound) to "
          + "\(frames.upperBound) are allowed",
        LimitExcess(
          .outputFrames, found: frameCount, allowed: isOver ? frames.upperBound : frames.lowerBound)
      )
    }
    guard let seconds else { return }
    let shown = plan.frames.reduce(Duration.zero) {
      $0 + DelayPolicy.browser.shownDuration(of: $1.delay)
    }
    let play = shown / .seconds(1)
    var count = 1
    if plays != nil, case .finite(let most) = plan.playCount { count = most }
    // Rounding lengthens a play by at most 5 ms.
    guard Double(count) * (play - 0.005) > Double(seconds) else { return }
    let total = Double(count) * play
    throw refusal(
      "browsers show \(count == 1 ? "one play" : "\(count) plays") for "
        + "\((total * 100).rounded() / 100) s, but at most \(seconds) s are allowed",
      LimitExcess(
        .outputDuration, found: Int(min(total * 1e9, 1e18)), allowed: seconds * 1_000_000_000))
  }

  private func fits(_ size: PixelSize) -> Bool {
    switch self.size {
    case .exactly(let width, let height): (size.width, size.height) == (width, height)
    case .within(let width, let height): size.width <= width && size.height <= height
    case .touching(let width, let height):
      size.width <= width && size.height <= height
        && max(size.width, size.height) >= min(width, height)
    }
  }

  private func scaling(of canvas: PixelSize) throws(AnimatedImageError) -> AnimationEdit {
    switch size {
    case .exactly(let width, let height):
      guard canvas.width * height == canvas.height * width else {
        throw refusal(
          "the pictures are \(canvas), but \(width)x\(height) is required", sides(canvas))
      }
      return .resize(TargetSize(width: width, height: height), fit: .stretch)
    case .within(let width, let height), .touching(let width, let height):
      return .resize(TargetSize(width: width, height: height))
    }
  }

  private func sides(_ size: PixelSize) -> LimitExcess {
    let allowed =
      switch self.size {
      case .exactly(let width, let height), .within(let width, let height),
        .touching(let width, let height):
        max(width, height)
      }
    return LimitExcess(.outputSides, found: max(size.width, size.height), allowed: allowed)
  }

  private func refusal(_ detail: String, _ limit: LimitExcess) -> AnimatedImageError {
    AnimatedImageError(.limitExceeded, "\(detail) for \(name)", limit: limit)
  }
}

extension AnimatedImage {
  /// Searches for the mildest settings whose file meets `preset`, on the calling thread. If `options` have no format
  /// and the preset does not allow that of the image, the file has the preset's first format.
  ///
  /// - Throws: the errors of ``UploadPreset/apply(to:_:of:)`` and of the search for a byte budget.
  func fitted(
    _ edits: [AnimationEdit], _ options: EditOptions, to preset: UploadPreset,
    isCancelled: @escaping @Sendable () -> Bool, progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> BudgetedAnimation {
    var (edits, options) = (edits, options)
    if options.format == nil, !preset.formats.contains(format.outputFormat) {
      options.format = preset.formats.first
    }
    _ = try preset.apply(to: &edits, &options, of: self)
    let found = try fitted(
      edits, options, to: options.budget ?? ByteBudget(byteLimit: preset.byteLimit),
      isCancelled: isCancelled, progress: progress)
    try preset.check(found.plan)
    return found
  }
}
