/// The format, canvas and timing of a file, and how ``AnimationWriter`` compresses it.
public struct AnimationWriterOptions: Sendable {
  /// The format of the file, whatever its name. Default: ``AnimationFormat/default``, which is APNG.
  /// ``AnimationFormat/init(fileExtension:)`` is the format for a name.
  ///
  /// A GIF holds at most 256 colours per frame and no partly transparent pixels; ``colors``, ``dithering`` and
  /// ``transparency`` decide what happens to other pixels. Its delays are rounded to centiseconds, without drift. Of
  /// the metadata, only comments, the XMP packet and the colour profile are written to a GIF.
  public var format: AnimationFormat
  /// The size of the canvas and of every frame. Default: nil, which means the size of the first frame.
  public var size: PixelSize?
  /// How many times the animation plays in total. Default: ``PlayCount/indefinite``.
  public var playCount: PlayCount
  /// How much time is spent on making the file small. Default: `balanced`.
  public var effort: EncodingEffort
  /// What happens to a frame that equals the previous one. Default: ``IdenticalFrames/merge``.
  public var identicalFrames: IdenticalFrames
  /// What happens to frames of a GIF that would last less than 2 cs. Default: ``ShortDelays/merge``.
  /// ``AnimationWriter`` stores the delays of an APNG unchanged, although browsers show a delay of 10 ms or less for
  /// 100 ms; edits drop frames that would get such a delay (see ``EditOptions/shortDelays``).
  public var shortDelays: ShortDelays
  /// The metadata to write: colour space, profile, density, Exif and text. Default: nil, which means none.
  public var metadata: AnimationMetadata?
  /// A picture for readers without animation support. It is not a frame. Default: nil, which means that such readers
  /// show the first frame.
  public var poster: Bitmap?
  /// The colours of all frames, collected in a first pass. With a survey, the file uses the smallest lossless pixel
  /// format. Default: nil, which means RGBA with the depth of the first frame.
  public var survey: ColorSurvey?
  /// Whether fully transparent pixels keep their colours. Default: false, which turns them transparent black.
  public var keepsHiddenColors: Bool
  /// How colours that a GIF cannot hold are reduced, or how many colours an APNG may have. Default:
  /// ``ColorPolicy/automatic``, with which an APNG stores all colours.
  public var colors: ColorPolicy
  /// How pixels whose colour is not in the palette are drawn. Default: ``Dithering/automatic``.
  public var dithering: Dithering
  /// How partly transparent pixels are stored in a GIF. Default: pixels with an alpha of 128 or more become opaque, all
  /// others transparent.
  public var transparency: Transparency
  /// How much colours may differ from the original to save bytes, from 0 to 200. The unit is an eighth of a step of
  /// 8-bit grey. Default: 0, which is lossless.
  ///
  /// A pixel whose new colour is within the tolerance of the colour already shown is left unchanged. In a GIF, other
  /// pixels also take similar colours where that makes the data shorter. Differences of hue are weighted by their
  /// visibility. Each picture is compared with what is actually shown, so errors do not add up from frame to frame.
  /// Samples with 16 bits are compared by their upper 8 bits. A tolerance of 40 is hard to see; 120 is obvious in
  /// gradients.
  public var tolerance: Int
  /// The number of frames that will be appended, or nil if it is unknown. Default: nil.
  ///
  /// An APNG contains its number of frames near its start. If the number is unknown and the sink cannot be patched,
  /// which is true of a pipe, the compressed frames of an APNG stay in memory until the end. A GIF does not contain the
  /// number.
  ///
  /// If the number is set, identical frames and frames that are too short for browsers are kept. If the number is set
  /// and the sink cannot be patched, a delay over 65,535 s in an APNG causes the error
  /// ``AnimatedImageError/Code/unwritable``, because the delay would take several frames.
  public var frameCount: Int?
  /// The number of bytes that the writer may hold besides the output. Default: nil, which means eight canvases plus 16
  /// MiB. With a lower limit, fewer threads encode.
  public var memoryByteLimit: Int?
  /// The number of threads that encode, including the calling thread. Default: 0, which means one per processor. The
  /// number does not affect the output.
  public var parallelism: Int
  /// Whether an APNG stores RGBA even if a palette or grey would suffice.
  package var storesRGBA = false
  /// What the file takes over from its source, if both have the same format.
  package var carried = AnimationRequest.Carried()

  /// What happens to a frame that equals the previous one.
  public struct IdenticalFrames: Sendable, Hashable {
    private let merges: Bool
    /// The frame is dropped, and its delay is added to that of the previous frame. If browsers replace either of the
    /// two delays (see ``DelayPolicy/browser``), the frame is kept instead.
    public static let merge = Self(merges: true)
    /// The frame is written as a single pixel that changes nothing.
    public static let keep = Self(merges: false)
  }

  /// What happens to frames with delays that browsers replace with longer ones.
  public struct ShortDelays: Sendable, Hashable {
    private let merges: Bool
    /// Stored delays are at least 2 cs, because browsers show such delays as stored. Shorter frames are merged, unless
    /// identical frames are kept. The duration of a play does not change. A delay of zero counts as 10 cs, as it does
    /// in browsers. For an edited APNG, the least delay is 11 ms.
    public static let merge = Self(merges: true)
    /// Delays are stored as exactly as the format allows, however short. Use this for players other than browsers.
    public static let keep = Self(merges: false)
  }

  /// Creates options; omitted arguments take their defaults.
  public init(
    format: AnimationFormat = .default, size: PixelSize? = nil, playCount: PlayCount = .indefinite,
    effort: EncodingEffort = .balanced, identicalFrames: IdenticalFrames = .merge,
    shortDelays: ShortDelays = .merge, metadata: AnimationMetadata? = nil, poster: Bitmap? = nil,
    survey: ColorSurvey? = nil, keepsHiddenColors: Bool = false, colors: ColorPolicy = .automatic,
    dithering: Dithering = .automatic, transparency: Transparency = .threshold(),
    tolerance: Int = 0, frameCount: Int? = nil, memoryByteLimit: Int? = nil, parallelism: Int = 0
  ) {
    self.format = format
    self.size = size
    self.playCount = playCount
    self.effort = effort
    self.identicalFrames = identicalFrames
    self.shortDelays = shortDelays
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

  /// Whether short frames, which browsers would show longer than requested, are merged.
  package var mergesShortFrames: Bool {
    format.writable?.countsCentiseconds == true && shortDelays == .merge
      && identicalFrames == .merge && frameCount == nil
  }

  /// Whether the last frame may have to clear pixels for the first frame of the next play, because only the disposal of
  /// a frame can make pixels transparent.
  var clearsForNextPlay: Bool {
    format.writable?.framesCanClear == false && playCount != .once
  }

  /// How colours are reduced, or nil if they are not reduced.
  package var reduction: ColorReduction? {
    let hasPalettes = format.hasPalettes
    guard colors != .exact, hasPalettes || colors != .automatic else { return nil }
    return ColorReduction(
      colors: colors, dithering: dithering, transparency: hasPalettes ? transparency : .kept)
  }
}
