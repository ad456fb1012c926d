/// The format, canvas and timing of a file, and how ``AnimationWriter`` compresses it.
public struct AnimationWriterOptions: Sendable {
  /// The format of the file. Default: ``AnimationFormat/apng``.
  ///
  /// ``AnimationFormat/gif`` holds 256 colours per frame and no partly transparent pixels: ``colors``, ``dithering``
  /// and ``transparency`` decide what happens to other pixels. Its delays are rounded to centiseconds without drift.
  /// The only metadata written is comments, the XMP packet and the colour profile.
  public var format: AnimationFormat
  /// The size of the canvas and of every frame. Default: nil, the size of the first frame.
  public var size: PixelSize?
  /// How many times the animation plays in total. Default: ``PlayCount/indefinite``.
  public var playCount: PlayCount
  /// How much time to spend on making the file small. Default: `balanced`.
  public var effort: EncodingEffort
  /// How to write a frame that equals the previous one. Default: ``IdenticalFrames/merge``.
  public var identicalFrames: IdenticalFrames
  /// How GIF, which has whole centiseconds, stores delays. Default: ``Timing/browser``. APNG stores delays unchanged.
  public var timing: Timing
  /// Colour space, profile, density, Exif and text. Default: nil, none.
  public var metadata: AnimationMetadata?
  /// A picture, not a frame, for readers without animation support. Default: nil, they show the first frame.
  public var poster: Bitmap?
  /// The colours of all frames, from a first pass. With them, the file uses the smallest lossless pixel format.
  /// Default: nil, RGBA with the depth of the first frame.
  public var survey: ColorSurvey?
  /// Whether fully transparent pixels keep their colours. Default: false, they become transparent black.
  public var keepsHiddenColors: Bool
  /// How to reduce colours that a GIF cannot hold, or how many an APNG may have. Default:
  /// ``ColorPolicy/automatic``, with which APNG stores all colours.
  public var colors: ColorPolicy
  /// How to draw pixels whose colour is not in the palette. Default: ``Dithering/automatic``.
  public var dithering: Dithering
  /// How to store partly transparent pixels in a GIF. Default: a threshold of 128.
  public var transparency: Transparency
  /// How much colours may differ to save bytes, in eighths of a step of 8-bit grey: 0 to 200. Default: 0, lossless.
  ///
  /// A pixel within the tolerance of the one already shown is not changed, and in a GIF, pixels also take similar
  /// colours where that makes the data shorter. Differences of hue are weighted by how visible they are. Pictures are
  /// compared with what is actually shown, so errors do not add up. 40 is hard to see, 120 is obvious in gradients.
  public var tolerance: Int
  /// The number of frames that will be appended, if it is known. Default: nil.
  ///
  /// An APNG states its number of frames at the start; a GIF does not. If the number is unknown and the sink cannot be
  /// patched, such as a pipe, the compressed frames of an APNG stay in memory until the end. If the number is set,
  /// identical frames are kept. For such a sink, a delay over 65,535 s, which would take several frames of an APNG, is
  /// then ``AnimatedImageError/Code/unwritable``.
  public var frameCount: Int?
  /// The number of bytes that the writer may hold, besides the output. Default: nil, eight canvases and 16 MiB. With
  /// a lower limit, fewer threads encode.
  public var memoryByteLimit: Int?
  /// The number of threads that encode, including the calling thread. Default: 0, one per processor. It does not
  /// affect the output.
  public var parallelism: Int
  /// Whether an APNG stores RGBA even if a palette or grey would do.
  package var storesRGBA = false

  /// How to write a frame that equals the previous one.
  public struct IdenticalFrames: Sendable, Hashable {
    private let merges: Bool
    /// Adds its delay to the previous frame, unless browsers replace one of the two delays; see
    /// ``DelayPolicy/browser``.
    public static let merge = Self(merges: true)
    /// Writes a frame of one pixel that changes nothing.
    public static let keep = Self(merges: false)
  }

  /// How delays are stored in whole centiseconds.
  public struct Timing: Sendable, Hashable {
    private let isExact: Bool
    /// Delays are at least 2 cs, which all browsers show as stored. Shorter frames are merged, unless identical frames
    /// are kept. The duration of a play does not change. A delay of zero counts as 10 cs, as in browsers.
    public static let browser = Self(isExact: false)
    /// As exact as centiseconds allow, even below 2 cs, for players other than browsers.
    public static let exact = Self(isExact: true)
  }

  /// Creates options; omitted arguments take their defaults.
  public init(
    format: AnimationFormat = .apng, size: PixelSize? = nil, playCount: PlayCount = .indefinite,
    effort: EncodingEffort = .balanced, identicalFrames: IdenticalFrames = .merge,
    timing: Timing = .browser, metadata: AnimationMetadata? = nil, poster: Bitmap? = nil,
    survey: ColorSurvey? = nil, keepsHiddenColors: Bool = false, colors: ColorPolicy = .automatic,
    dithering: Dithering = .automatic, transparency: Transparency = .threshold(),
    tolerance: Int = 0, frameCount: Int? = nil, memoryByteLimit: Int? = nil, parallelism: Int = 0
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
    self.colors = colors
    self.dithering = dithering
    self.transparency = transparency
    self.tolerance = tolerance
    self.frameCount = frameCount
    self.memoryByteLimit = memoryByteLimit
    self.parallelism = parallelism
  }

  /// Whether frames are merged that browsers would otherwise show longer than requested.
  package var mergesShortFrames: Bool {
    format.writable?.countsCentiseconds == true && timing == .browser && identicalFrames == .merge
      && frameCount == nil
  }

  /// How colours are reduced; nil if none are.
  package var reduction: ColorReduction? {
    let hasPalettes = format.hasPalettes
    guard colors != .exact, hasPalettes || colors != .automatic else { return nil }
    return ColorReduction(
      colors: colors, dithering: dithering, transparency: hasPalettes ? transparency : .kept)
  }
}
