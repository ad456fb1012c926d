/// Where the scanner is in the order of animation chunks (PNG 3rd edition, 4.9.2 and 5.6).
struct PNGAnimationState: Sendable {
  /// What the chunks so far allow next.
  enum Phase: Sendable {
    /// No IDAT was seen.
    case beforeData
    /// IDAT was seen, and no fcTL or fdAT after it.
    case staticData
    /// An fcTL or fdAT was seen after IDAT.
    case frames
  }

  /// A picture whose data chunks are being passed.
  struct OpenPicture: Sendable {
    /// Nil for a static image that is not a frame.
    var control: PNGFrameControl?
    var start: Int
    var end: Int
  }

  /// A chunk that cannot be read.
  struct Fault: Sendable {
    var type: PNGChunkType
    var detail: String
    var offset: Int
  }

  var phase = Phase.beforeData
  /// Frames that acTL announces; nil without a valid acTL.
  var announcedFrames: Int?
  /// Whether something before the image data rules out an animation.
  var isBroken = false
  /// Whether no more frames are taken: an error, or as many as announced were read.
  var isListEnded = false
  /// What was wrong with an acTL or the first fcTL, and where, when another one may still take its
  /// place: browsers pass over chunks that they cannot read.
  var fault: Fault?
  /// The number of the next fcTL or fdAT. Wraps round: chunks to use up all numbers fit into a file of
  /// 64 GiB.
  var nextSequence: UInt32 = 0
  /// An fcTL whose data has not begun.
  var pendingControl: PNGFrameControl?
  var openPicture: OpenPicture?
  /// The type of the last chunk that was read, to notice data that is split by others.
  var lastType = PNGChunkType.header
  var hasTransparency = false
  /// Whether any fcTL was seen.
  var hasFrameControl = false
  /// Whether the image data before all fdAT is frame 0.
  var hasStaticFrame = false

  /// Whether frames are being collected.
  var isAnimated: Bool { announcedFrames != nil && !isBroken }
}
