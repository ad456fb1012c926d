import Zoetrope
import ZoetropeProcess

/// What a site or program takes as an emoji or sticker.
///
/// Every limit was read in the source that its row names, or in a copy of it, on the row's date. Limits that could not
/// be read there are left out, and so are presets without any. Where a source says KB, 1,000 bytes are meant to be safe.
/// Slack documents no size of pictures: 128x128 is what other sites advise, not a limit that was read there.
struct UploadPreset: Hashable, Sendable {
  /// The size of pictures.
  enum Size: Hashable {
    case exactly(Int, Int)
    case within(Int, Int)
    /// As large as fits.
    case touching(Int, Int)
  }

  let name: String
  /// What it is, for the help.
  let summary: String
  var formats: [AnimationFormatChoice]
  var size: Size
  var byteLimit: Int
  var frames: ClosedRange<Int>? = nil
  /// The longest time of one play, in seconds.
  var seconds: Int? = nil
  var rate: Int? = nil
  var playCount: PlayCount? = nil
  /// The official source, and when it was last compared with the row.
  let source: String
  let date: String

  static let all = [
    UploadPreset(
      name: "slack-emoji", summary: "GIF, 128x128, 128 kB, 50 frames", formats: [.gif],
      size: .within(128, 128), byteLimit: 128_000, frames: 1...50,
      source:
        "https://slack.com/help/articles/206870177-Add-custom-emoji-and-aliases-to-your-workspace",
      date: "2026-11-26"),
    UploadPreset(
      name: "discord-emoji", summary: "GIF, 128x128, 256 kB", formats: [.gif],
      size: .within(128, 128), byteLimit: 256_000,
      source: "https://docs.discord.com/developers/resources/emoji", date: "2026-11-26"),
    UploadPreset(
      name: "discord-sticker", summary: "APNG or GIF, 320x320, 512 kB, 5 s",
      formats: [.apng, .gif],
      size: .exactly(320, 320), byteLimit: 512_000, seconds: 5,
      source: "https://docs.discord.com/developers/resources/sticker#create-guild-sticker",
      date: "2026-11-26"),
    UploadPreset(
      name: "signal-sticker", summary: "APNG, 512x512, 300 KiB", formats: [.apng],
      size: .exactly(512, 512), byteLimit: 300 * 1024, playCount: .indefinite,
      source: "https://github.com/signalapp/Signal-Desktop (sticker-creator)", date: "2026-11-26"),
    UploadPreset(
      name: "line-sticker", summary: "APNG, 320x270, 300 kB, 5 to 20 frames, 4 s",
      formats: [.apng], size: .touching(320, 270), byteLimit: 300_000, frames: 5...20, seconds: 4,
      source: "https://creator.line.me/en/guideline/animationsticker/", date: "2026-11-26"),
    UploadPreset(
      name: "imessage-small", summary: "APNG or GIF, 300x300, 500 kB", formats: [.apng, .gif],
      size: .exactly(300, 300), byteLimit: 499_999,
      source: "https://developer.apple.com/documentation/messages/msstickersize/small",
      date: "2026-11-26"),
    UploadPreset(
      name: "imessage-medium", summary: "APNG or GIF, 408x408, 500 kB", formats: [.apng, .gif],
      size: .exactly(408, 408), byteLimit: 499_999,
      source: "https://developer.apple.com/documentation/messages/msstickersize/regular",
      date: "2026-11-26"),
    UploadPreset(
      name: "imessage-large", summary: "APNG or GIF, 618x618, 500 kB", formats: [.apng, .gif],
      size: .exactly(618, 618), byteLimit: 499_999,
      source: "https://developer.apple.com/documentation/messages/msstickersize/large",
      date: "2026-11-26"),
    UploadPreset(
      name: "twitch-emote", summary: "GIF, 112x112, 1 MB, 60 frames", formats: [.gif],
      size: .exactly(112, 112), byteLimit: 1_000_000, frames: 1...60,
      source: "https://help.twitch.tv/s/article/subscriber-emote-guide", date: "2026-11-26"),
  ]

  /// Others, and what they take instead of GIF and APNG.
  static let others = ["telegram": "WebM", "whatsapp": "WebP"]
}

extension UploadPreset {
  private func refusal(_ detail: String, _ advice: String, _ file: String) -> CommandFailure {
    var failure = CommandFailure(.budget, code: "preset", "\(detail) for \(name)", file: file)
    failure.advice = advice
    return failure
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

  /// `request` and `edits` with what the preset adds to them for `image`.
  ///
  /// - Throws: A failure with the status `budget` that names the limit which no change of size or rate can meet.
  func apply(
    to request: inout ConvertRequest, _ edits: inout [AnimationEdit], of image: AnimatedImage,
    file: String
  ) throws(CommandFailure) {
    let format = request.format(of: image)
    guard formats.contains(format) else {
      throw .usage(
        "\(name) is \(formats[0] == .gif ? "a GIF" : "an APNG"): choose an output that ends in "
          + ".\(formats[0].fileExtension), or --format \(formats[0].rawValue)")
    }
    if let playCount { edits.append(.playCount(playCount)) }
    func timeline() throws(CommandFailure) -> EditTimeline {
      do throws(AnimatedImageError) {
        var timeline = EditTimeline(
          image.frames, canvas: image.canvasSize, playCount: image.playCount,
          policy: request.policy)
        for edit in edits { try timeline.apply(edit) }
        return timeline
      } catch {
        throw CommandFailure(error, file: file, damage: .salvage)
      }
    }
    var line = try timeline()
    let duration = Double(line.ticks) / Double(line.timescale)
    if let seconds, duration > Double(seconds) {
      throw refusal(
        "one play takes \((duration * 100).rounded() / 100) s, and at most \(seconds) s are allowed",
        "--time cuts it, --duration \(seconds)s plays it faster", file)
    }
    if let rate, duration > 0, Double(line.showings.count) > Double(rate) * duration {
      edits.append(.framesPerSecond(Double(rate)))
      line = try timeline()
    }
    if let frames {
      guard line.showings.count >= frames.lowerBound else {
        throw refusal(
          "there are \(line.showings.count) frames, and at least \(frames.lowerBound) are needed",
          "choose an animation with more frames", file)
      }
      var wanted = frames.upperBound
      while line.showings.count > frames.upperBound, wanted > 0, duration > 0 {
        let before = edits
        edits.append(.framesPerSecond(Double(wanted) / duration))
        line = try timeline()
        if line.showings.count > frames.upperBound { edits = before }
        wanted -= 1
      }
    }
    try scale(line.canvas.size, &request, file)
    let isFixed = if case .within = size { request.form.budget?.keepsSize ?? false } else { true }
    var budget = request.form.budget ?? ByteBudget(byteLimit: byteLimit)
    budget.byteLimit = min(budget.byteLimit, byteLimit)
    budget.keepsSize = isFixed
    if frames.map({ $0.lowerBound > 1 }) ?? false { budget.keepsFrameRate = true }
    request.form.budget = budget
  }

  private func scale(
    _ canvas: PixelSize, _ request: inout ConvertRequest, _ file: String
  ) throws(CommandFailure) {
    guard request.rendering == nil, !fits(canvas) else { return }
    switch size {
    case .exactly(let width, let height):
      guard canvas.width * height == canvas.height * width else {
        throw refusal(
          "pictures are \(canvas), and \(width)x\(height) are needed",
          "--size \(width)x\(height) --fit fill crops them", file)
      }
      request.rendering = Rendering(target: TargetSize(width: width, height: height), fit: .stretch)
    case .within(let width, let height), .touching(let width, let height):
      request.rendering = Rendering(target: TargetSize(width: width, height: height))
    }
  }

  /// Makes sure that the output is what the preset asks for.
  func check(_ size: PixelSize, frameCount: Int, file: String) throws(CommandFailure) {
    guard fits(size) else {
      throw refusal("pictures of \(size) are too large or too small", "leave out --size", file)
    }
    if let frames, !frames.contains(frameCount) {
      throw refusal(
        "the output would have \(frameCount) frames, and \(frames.lowerBound) to "
          + "\(frames.upperBound) are allowed", "--fps or --frames changes them", file)
    }
  }
}
