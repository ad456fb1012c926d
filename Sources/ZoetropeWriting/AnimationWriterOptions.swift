/// What an ``AnimationWriter`` writes, and how.
public struct AnimationWriterOptions: Sendable {
  /// The format of the file. Default: ``AnimationFormat/apng``.
  ///
  /// A ``AnimationFormat/gif`` is exact as well: frames that it cannot hold are refused, those that change more than
  /// 256 colours or have partly transparent ones. Its delays are rounded to centiseconds without drift, and no frame is
  /// left out for a short one. Of the metadata it gets comments.
  public var format: AnimationFormat
  /// The size of the canvas. Default: nil, that of the first frame. Every frame must have it.
  public var size: PixelSize?
  /// How many times the animation plays in total. Default: ``PlayCount/indefinite``.
  public var playCount: PlayCount
  /// How much time to spend on making the file small. Default: `balanced`.
  public var effort: PNGEncoder.Effort
  /// What becomes of a frame that equals the one before. Default: ``IdenticalFrames/merge``.
  public var identicalFrames: IdenticalFrames
  /// How delays are stored by a format with whole centiseconds. Default: ``Timing/browser``. APNG stores all
  /// delays as they are.
  public var timing: Timing
  /// Colour space, profile, density, Exif and text. Default: nil, none.
  public var metadata: AnimationMetadata?
  /// A picture for readers without animation support that is not a frame. Default: nil, the first frame is shown.
  public var poster: Bitmap?
  /// The colours of all frames, from a first pass: with them the file takes the smallest lossless form. Default:
  /// nil. The file is then RGBA with the depth of the first frame.
  public var survey: ColorSurvey?
  /// Whether transparent pixels keep their colours. Default: false, they become transparent black.
  public var keepsHiddenColors: Bool
  /// How many frames will be appended, if that is known. Default: nil.
  ///
  /// An APNG states its number of frames at the start. To a sink that cannot be patched, such as a pipe, its bytes
  /// go at once only if the number is known; otherwise the compressed frames stay in memory until the end. With a
  /// number identical frames are kept.
  public var frameCount: Int?
  /// Bytes that the writer may hold beside the output. Default: nil, eight canvases and 16 MiB. A lower limit
  /// costs threads.
  public var memoryLimit: Int?
  /// Threads that encode concurrently, including the caller's. Default: 0, one per processor. The bytes do not
  /// depend on it.
  public var parallelism: Int

  /// What becomes of a frame that equals the one before.
  public struct IdenticalFrames: Sendable, Hashable {
    private let merges: Bool
    /// Its time is added to the frame before, unless browsers replace one of the two delays: see
    /// ``DelayPolicy/browser``.
    public static let merge = Self(merges: true)
    /// It is written as a frame of one pixel that changes nothing.
    public static let keep = Self(merges: false)
  }

  /// How delays are stored in whole centiseconds.
  public struct Timing: Sendable, Hashable {
    private let isExact: Bool
    /// At least 2 cs, which all browsers show as stored; shorter frames are merged. A play stays as long as it was.
    public static let browser = Self(isExact: false)
    /// As exactly as centiseconds allow, even below 2 cs: for other players.
    public static let exact = Self(isExact: true)
  }

  /// Creates options; omitted arguments take their defaults.
  public init(
    format: AnimationFormat = .apng, size: PixelSize? = nil, playCount: PlayCount = .indefinite,
    effort: PNGEncoder.Effort = .balanced, identicalFrames: IdenticalFrames = .merge,
    timing: Timing = .browser, metadata: AnimationMetadata? = nil, poster: Bitmap? = nil,
    survey: ColorSurvey? = nil, keepsHiddenColors: Bool = false, frameCount: Int? = nil,
    memoryLimit: Int? = nil, parallelism: Int = 0
  ) {
    self.format = format
    self.size = size
    self.playCount = playCount
    self.effort = effort
    self.identicalFrames = identicalFrames
    self.timing = timing
    self.metadata = metadata
    self.poster = poster
    self.survey = survey
    self.keepsHiddenColors = keepsHiddenColors
    self.frameCount = frameCount
    self.memoryLimit = memoryLimit
    self.parallelism = parallelism
  }
}

/// A frame to write: the whole canvas, and how long it is shown.
public struct WritableFrame: Sendable {
  /// The canvas.
  public var bitmap: Bitmap
  /// For how long it is shown.
  public var delay: FrameDelay
  /// Where the bitmap may differ from that of the frame before; nil if anywhere.
  ///
  /// A hint that saves comparing the rest. Pixels outside must be equal: debug builds check it.
  public var changed: PixelRect?

  /// Creates a frame that may differ anywhere from the one before.
  public init(bitmap: Bitmap, delay: FrameDelay, changed: PixelRect? = nil) {
    self.bitmap = bitmap
    self.delay = delay
    self.changed = changed
  }

  /// A composited frame whose predecessor is the frame written before it.
  public init(_ frame: CompositedFrame, delay: FrameDelay) {
    self.init(bitmap: frame.bitmap, delay: delay, changed: frame.dirtyRect)
  }
}

/// What was written.
public struct WrittenAnimation: Sendable, Hashable {
  /// Bytes of the file.
  public let byteCount: Int
  /// Frames of the file.
  public let frameCount: Int
  /// Frames that were merged into others, since they were equal or too short.
  public let mergedCount: Int
  /// Frames whose compressed pixels were copied from the source of an edit.
  public let copiedCount: Int
  /// Whether edited delays are what was asked for to the last digit; else the ends of frames are rounded.
  public let hasExactDelays: Bool
  /// Damage that was found in the source of an edit.
  public let damage: [Damage]
  /// Frames that were compressed.
  public var encodedCount: Int { frameCount - copiedCount }

  package init(
    byteCount: Int, frameCount: Int, mergedCount: Int, copiedCount: Int = 0,
    hasExactDelays: Bool = true, damage: [Damage] = []
  ) {
    self.byteCount = byteCount
    self.frameCount = frameCount
    self.mergedCount = mergedCount
    self.copiedCount = copiedCount
    self.hasExactDelays = hasExactDelays
    self.damage = damage
  }
}
