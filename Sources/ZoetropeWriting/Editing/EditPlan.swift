/// A plan for writing an edited animation, frame by frame. Nothing has been written yet.
public struct EditPlan: Sendable {
  /// How one frame of the output is produced.
  public struct Frame: Sendable, Hashable {
    /// The frame of the source that it shows.
    public let source: Int
    /// The delay to be stored.
    public let delay: FrameDelay
    /// How the frame is written.
    public let action: Action
  }

  /// How a frame is written.
  public enum Action: Sendable, Hashable {
    /// The bytes of the source in this range are copied unchanged, with the frame's delay and other
    /// properties.
    case copied(Range<Int>)
    /// The compressed pixels in this range are copied; delay, sequence numbers or chunk types are new.
    case patched(Range<Int>)
    /// The pixels of a rectangle are compressed again, without loss.
    case encoded(PixelRect, Reason)
  }

  /// Why a frame cannot be copied. Open: more may be added.
  public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The reason in a few words.
    public let description: String

    /// The canvas before the frame has changed, because frames before it were removed or reordered.
    public static let canvas = Reason(description: "the canvas before it differs")
    /// The frame is now the first one, which has to fill the canvas in this format.
    public static let firstFrame = Reason(description: "the first frame fills the canvas")
    /// A later frame needs pixels to be transparent again.
    public static let transparency = Reason(description: "it has to leave the canvas transparent")
    /// The frame is cropped.
    public static let crop = Reason(description: "the canvas is cropped")
    /// All frames get another pixel format, because a new frame does not fit the old one.
    public static let form = Reason(description: "a new frame does not fit the file's colours")
    /// The frame is scaled.
    public static let scaling = Reason(description: "its pixels are scaled")
    /// The frame's colours are reduced.
    public static let colors = Reason(description: "its colours are limited")
    /// The frame's pixels may take similar colours.
    public static let tolerance = Reason(description: "similar colours are allowed")
    static func format(_ format: AnimationFormat) -> Reason {
      Reason(description: "a \(format.rawValue.uppercased()) stores pixels in another way")
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
  /// The number of frames that were too short to be written; their time is added to others.
  public let mergedCount: Int
  /// Whether delays are exactly those that the edits request; otherwise the end times of frames are rounded, without
  /// drift.
  public let hasExactDelays: Bool
  /// The damage found in the source: in its structure, and in frames that had to be decoded.
  public let damage: [Damage]

  package let image: AnimatedImage
  package let steps: [Step]
  /// The part of the source's canvas that is kept.
  package let crop: PixelRect
  package internal(set) var structure: Structure
  /// How much time to spend on compressing new frames.
  package let effort: EncodingEffort
  /// The source's header. For a PNG, it is adapted to the size and the colours of the output.
  package let header: ImageHeader

  /// The pictures of the first new frame, kept because the frames before it had to be decoded for them. Most cuts have
  /// only this one.
  package let seam: Seam?

  /// The picture of a frame, and the canvas below it.
  package struct Seam: Sendable {
    let place: Int
    let picture: Bitmap
    let below: Bitmap
  }

  /// The positions of the parts of the source.
  package enum Structure: Sendable {
    case gif(GIFStructureMap)
    case png(PNGStructureMap)
    /// Nothing of the source is copied.
    case rewritten(PictureRewriting)
  }

  /// The part that encodes all pictures again; nil if frames are copied.
  package var rewriting: PictureRewriting? {
    if case .rewritten(let rewriting) = structure { rewriting } else { nil }
  }

  /// Returns the plan with the image's metadata added, if it encodes all pictures again.
  func withMetadata() -> EditPlan {
    guard let rewriting else { return self }
    var plan = self
    plan.structure = .rewritten(rewriting.withMetadata())
    return plan
  }

  /// Whether the colours of some frames are reduced because the format cannot hold them.
  public var reducesColors: Bool { rewriting?.findings.reducesColors ?? false }
  /// Whether pixels may take similar colours.
  package var isLossy: Bool { (rewriting?.options.tolerance ?? 0) > 0 }
  /// The share of pixels in the changed rectangles that are partly transparent and become opaque or transparent; 0
  /// to 1.
  public var partialAlphaShare: Double { rewriting?.findings.partialAlphaShare ?? 0 }

  /// The writing of one frame.
  package struct Step: Sendable {
    var source: Int
    var delay: FrameDelay
    /// Nil if the frame is copied.
    var drawing: Drawing?
    var reason = Reason.canvas
  }

  /// A frame to be encoded.
  package struct Drawing: Sendable, Hashable {
    var rect: PixelRect
    var disposal: DisposalMethod
    /// The frame of the source that leaves the same canvas as this one; nil if none does.
    var next: Int?
  }

  /// The number of frames that are compressed again.
  public var encodedCount: Int { steps.count { $0.drawing != nil } }
  /// The number of frames whose compressed pixels are copied.
  public var copiedCount: Int { steps.count - encodedCount }
  /// Whether all frames are copied or patched, and none is compressed.
  public var isCopy: Bool { encodedCount == 0 }
}

extension EditPlan: CustomStringConvertible {
  /// A summary line, then one line for each run of frames with the same treatment.
  public var description: String {
    var lines = [
      "\(format), \(canvasSize), \(frames.count) frames: \(copiedCount) copied, \(encodedCount) encoded"
        + (mergedCount > 0 ? ", \(mergedCount) dropped as too short" : "")
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
    case .encoded(_, let reason): "encoded, since \(reason)"
    }
  }
}
