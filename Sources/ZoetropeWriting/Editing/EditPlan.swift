/// A plan for writing an edited animation, frame by frame. Making a plan writes nothing.
public struct EditPlan: Sendable {
  /// A frame of the output, and how it is produced.
  public struct Frame: Sendable, Hashable {
    /// The index of the source's frame that this frame shows.
    public let source: Int
    /// The delay to be stored.
    public let delay: FrameDelay
    /// How the frame is written.
    public let action: Action
    /// Whether this is a new frame among copied ones that has more colours than the format can hold.
    package let reducesColors: Bool
  }

  /// How a frame is written.
  public enum Action: Sendable, Hashable {
    /// The frame is copied unchanged, with its delay and other properties. The range contains the frame's bytes in the
    /// source.
    case copied(Range<Int>)
    /// The compressed pixels are copied, but the delay, the sequence numbers or the chunk types change. The range
    /// contains the frame's bytes in the source.
    case patched(Range<Int>)
    /// The pixels of the rectangle are compressed again.
    case encoded(PixelRect, Reason)
  }

  /// The reason why a frame cannot be copied. Further reasons may be added.
  public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The reason in a few words.
    public let description: String

    /// The canvas on which the frame is drawn is a different one, because earlier frames were removed or reordered.
    public static let canvas = Reason(description: "the canvas before it differs")
    /// The frame is now the first one, which has to fill the canvas in this format.
    public static let firstFrame = Reason(description: "the first frame fills the canvas")
    /// A later frame needs pixels to be transparent again.
    public static let transparency = Reason(description: "it has to leave the canvas transparent")
    /// The frame is cropped.
    public static let crop = Reason(description: "the canvas is cropped")
    /// All frames get another pixel format, because the source's format cannot store a new frame.
    public static let pixelFormat = Reason(
      description: "a new frame does not fit the file's colours")
    /// The frame is scaled.
    public static let scaling = Reason(description: "its pixels are scaled")
    /// The frame's colours are reduced.
    public static let colors = Reason(description: "its colours are limited")
    /// The frame's pixels may take similar colours.
    public static let tolerance = Reason(description: "similar colours are allowed")
    static let unknownFrames = Reason(description: "frames of its format cannot be copied")
    static func format(_ format: AnimationFormat) -> Reason {
      Reason(description: "\(format.nameWithArticle) stores pixels in another way")
    }
    /// The frame's data is incomplete.
    public static let damage = Reason(description: "its data is cut off")
  }

  /// The format of the output.
  public let format: AnimationFormat
  /// The frames of the output, in order.
  public let frames: [Frame]
  /// The size of the output's canvas.
  public let canvasSize: PixelSize
  /// The total number of plays.
  public let playCount: PlayCount
  /// The number of frames that are dropped because they are too short. Their time is added to other frames.
  public let mergedCount: Int
  /// Whether all delays are exactly those that the edits request. If not, the end times of frames are rounded, without
  /// drift.
  public let hasExactDelays: Bool
  /// Whether the delays add up to the duration of the animation, rounded to the unit in which they are stored.
  package let keepsDuration: Bool
  /// Whether metadata is left out because the format, or the way in which pixels are stored, rules it out. If all
  /// pictures are encoded again, chunks and extension blocks of unknown types are left out, too.
  public internal(set) var losesMetadata = false
  /// The damage found in the structure of the source, and in the frames that had to be decoded.
  public let damage: [Damage]

  package let image: AnimatedImage
  package let steps: [Step]
  /// The part of the source's canvas that is kept.
  package let crop: PixelRect
  var structure: Structure
  /// The file, if it was encoded to make the plan and is kept in memory.
  private(set) var encoded: EncodedFile?
  /// The number of files that were encoded to make the plan.
  private(set) var attemptCount = 0
  /// How much time to spend on compressing new frames.
  package let effort: EncodingEffort
  /// How the colours of new frames are drawn if they have to be reduced.
  let dithering: Dithering
  /// The header of the source. The header of a PNG is adapted to the size and the colours of the output.
  package let header: ImageHeader

  /// The picture of the first new frame and the canvas below it. Both are kept for writing, because earlier frames had
  /// to be decoded to get them. Most cuts have only one new frame.
  package let seam: Seam?

  /// The picture of a new frame, the canvas below it, and the frame's index in the output.
  package struct Seam: Sendable {
    let place: Int
    let picture: Bitmap
    let below: Bitmap
  }

  /// Where the bytes of the output come from.
  enum Structure: Sendable {
    /// Compressed frames of the source are copied.
    case copied(any FrameCopying)
    /// No bytes of the source are copied.
    case rewritten(PictureRewriting)
  }

  /// The part of the plan that encodes all pictures again, or nil if frames can be copied.
  package var rewriting: PictureRewriting? {
    if case .rewritten(let rewriting) = structure { rewriting } else { nil }
  }

  /// Whether the output has all frames as the source stores them, and plays them as often.
  var changesNothing: Bool {
    header == image.header && playCount == image.playCount && frames.count == image.frames.count
      && frames.allSatisfy { if case .copied = $0.action { true } else { false } }
  }

  /// Keeps the file that the plan has written, instead of the pictures that would save work when writing it.
  mutating func keep(_ file: EncodedFile) {
    encoded = file
    if let rewriting { structure = .rewritten(rewriting.withoutKeptPictures()) }
  }

  /// Returns a copy that was made in `count` attempts.
  func afterAttempts(_ count: Int) -> EditPlan {
    var plan = self
    plan.attemptCount = count
    return plan
  }

  /// If the plan encodes all pictures again, returns a plan that also writes the image's metadata. Otherwise returns
  /// this plan.
  func withMetadata() -> EditPlan {
    guard let rewriting else { return self }
    var plan = self
    plan.structure = .rewritten(rewriting.withMetadata())
    plan.encoded = nil
    return plan
  }

  /// Whether the colours of some frames are reduced because the format cannot hold them. Always true if samples of 16
  /// bits are stored in 8. Frames that are copied after such a frame show its reduced colours until they draw over
  /// them.
  public var reducesColors: Bool { rewriting?.findings.reducesColors ?? (reducedCount > 0) }
  /// The number of new frames among copied ones whose colours are reduced. 0 if all pictures are encoded again.
  package var reducedCount: Int { steps.count { $0.reducesColors } }
  /// Whether the plan allows pixels to take similar colours.
  package var isLossy: Bool { (rewriting?.options.tolerance ?? 0) > 0 }
  /// Of all pixels in the changed rectangles, the share that are partly transparent and become opaque or fully
  /// transparent, from 0 to 1.
  public var partialAlphaShare: Double { rewriting?.findings.partialAlphaShare ?? 0 }

  /// The instructions for writing one frame of the output.
  package struct Step: Sendable {
    var source: Int
    var delay: FrameDelay
    /// How the frame is encoded, or nil if it is copied.
    var drawing: Drawing?
    var reason = Reason.canvas
    /// Whether the frame is encoded in fewer colours than its picture has.
    var reducesColors = false
  }

  /// The rectangle and the disposal of a frame to be encoded.
  package struct Drawing: Sendable, Hashable {
    var rect: PixelRect
    var disposal: DisposalMethod
    /// The index of a frame of the source that was made for the canvas left by this frame, or nil if no such frame is
    /// known.
    var next: Int?
  }

  /// The number of frames that are compressed again.
  public var encodedCount: Int { steps.count { $0.drawing != nil } }
  /// The number of frames whose compressed pixels are copied.
  public var copiedCount: Int { steps.count - encodedCount }
  /// Whether all frames are copied or patched, so that none is compressed again.
  public var isCopy: Bool { encodedCount == 0 }
}

extension EditPlan: CustomStringConvertible {
  /// A description of the plan: a summary line, followed by one line for each run of frames that are treated in the
  /// same way.
  public var description: String {
    var lines = [
      "\(format), \(canvasSize), \(frames.count) frames: \(copiedCount) copied, \(encodedCount) encoded"
        + (mergedCount > 0 ? ", \(mergedCount) dropped as too short" : "")
        + (losesMetadata ? ", metadata left out" : "")
    ]
    var start = 0
    while start < frames.count {
      let kind = frames[start].kind
      var end = start + 1
      while end < frames.count, frames[end].kind == kind,
        frames[end].source == frames[end - 1].source + 1
      {
        end += 1
      }
      let (first, last) = (frames[start].source, frames[end - 1].source)
      lines.append(
        end == start + 1
          ? "frame \(start): frame \(first), \(kind)"
          : "frames \(start) to \(end - 1): frames \(first) to \(last), \(kind)")
      start = end
    }
    return lines.joined(separator: "\n")
  }
}

extension EditPlan.Frame {
  fileprivate var kind: String {
    switch action {
    case .copied: "copied"
    case .patched: "pixels copied"
    case .encoded(_, let reason):
      "encoded\(reducesColors ? " in fewer colours" : ""), since \(reason)"
    }
  }
}
