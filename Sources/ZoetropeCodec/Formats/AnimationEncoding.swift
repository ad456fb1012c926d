/// The properties of a file that are known before its first frame is encoded.
package struct AnimationRequest: Sendable {
  package var canvasSize: PixelSize
  /// Whether pictures have 16 bits per sample.
  package var isDeep: Bool
  package var playCount: PlayCount
  package var metadata: AnimationMetadata?
  package var effort: EncodingEffort
  /// The colours of all pictures, or nil if they are not known.
  package var survey: ColorSurvey?
  /// Whether a static image that is not a frame comes first.
  package var hasPoster: Bool
  /// The palette that frames share, as `RGBA.word` values (in a GIF, opaque colours only), or nil if the encoder builds
  /// a palette from the survey.
  package var colorTable: [UInt32]?
  /// APNG: whether pixels are stored as RGBA even if a palette or grey would suffice.
  package var storesRGBA = false
  package var carried = Carried()
  /// GIF: whether graphic control extensions are left out until the first frame that needs such an extension.
  package var omitsEmptyControls = false

  /// What a file takes over from its source, which has the same format, besides pictures, times and metadata.
  package struct Carried: Sendable {
    /// The extension blocks of a GIF or ancillary chunks of an APNG that come before the first frame.
    package var head: [UInt8] = []
    /// APNG: ancillary chunks that come after the last frame.
    package var tail: [UInt8] = []
    /// APNG: the header of the source, which decides whether the next two chunks still apply.
    package var header: ImageHeader?
    /// APNG: the sBIT chunk.
    package var significantBits: [UInt8] = []
    /// APNG: the bKGD chunk.
    package var background: [UInt8] = []
    /// GIF: the shape of a pixel, as the screen descriptor stores it. Browsers ignore it.
    package var pixelAspect: UInt8 = 0
    /// GIF: the index of the background colour in the global palette, which is that of the source. Browsers ignore it.
    package var backgroundIndex: UInt8 = 0

    package init() {}
  }

  package init(
    canvasSize: PixelSize, isDeep: Bool, playCount: PlayCount, metadata: AnimationMetadata?,
    effort: EncodingEffort, survey: ColorSurvey?, hasPoster: Bool
  ) {
    self.canvasSize = canvasSize
    self.isDeep = isDeep
    self.playCount = playCount
    self.metadata = metadata
    self.effort = effort
    self.survey = survey
    self.hasPoster = hasPoster
  }
}

/// The compressed pixels of a frame.
package struct CodedFrame: Sendable {
  package var bytes: [UInt8]
  package var blend: BlendOperation

  package init(bytes: [UInt8], blend: BlendOperation) {
    (self.bytes, self.blend) = (bytes, blend)
  }
}

/// The encoder of a format that animations can be written in, and the limits of that format.
package struct WritableFormat: Sendable {
  /// Makes the encoder of one file. Throws `limitExceeded` or `unwritable` if the format does not support the request.
  package let makeEncoder:
    @Sendable (AnimationRequest) throws(AnimatedImageError) -> any AnimationEncoding
  /// Whether a frame is limited to 256 colours, all of them opaque. If false, a frame can draw any colours.
  package let hasPalettes: Bool
  /// Whether a frame can make pixels transparent. If false, only the disposal of the previous frame can do so.
  package let framesCanClear: Bool
  /// Whether delays are stored in whole hundredths of a second. If false, delays are stored as fractions whose
  /// numerator and denominator have 16 bits each.
  package let countsCentiseconds: Bool
  /// Whether a file may have a static image besides its frames.
  package let hasPoster: Bool
  /// The greatest finite number of plays.
  package let maximumPlays: Int
  /// The key of all texts, or nil if each text has a key of its own.
  package let textKey: String?
  /// Returns whether a file loses anything of `metadata` that readers would miss.
  package let losesMetadata: @Sendable (_ metadata: AnimationMetadata) -> Bool

  package init(
    hasPalettes: Bool, framesCanClear: Bool, countsCentiseconds: Bool, hasPoster: Bool,
    maximumPlays: Int, textKey: String? = nil,
    losesMetadata: @escaping @Sendable (AnimationMetadata) -> Bool = { _ in false },
    makeEncoder:
      @escaping @Sendable (AnimationRequest) throws(AnimatedImageError)
      -> any AnimationEncoding
  ) {
    self.hasPalettes = hasPalettes
    self.framesCanClear = framesCanClear
    self.countsCentiseconds = countsCentiseconds
    self.hasPoster = hasPoster
    self.maximumPlays = maximumPlays
    self.textKey = textKey
    self.losesMetadata = losesMetadata
    self.makeEncoder = makeEncoder
  }
}

extension AnimationFormat {
  /// How animations are written in this format, or nil if they cannot be written.
  package var writable: WritableFormat? { FormatTable.row(of: self)?.writable(as: self) }

  /// Returns how animations are written in this format.
  ///
  /// - Throws: `unwritable` if they cannot be written.
  package func requireWritable() throws(AnimatedImageError) -> WritableFormat {
    if let writable { return writable }
    throw AnimatedImageError(
      .unwritable, "an animation cannot be written as \(rawValue.uppercased()) yet", format: self)
  }

  /// Creates the format in which animations are written to files with the extension `word`, such as `gif` or `PNG`. Nil
  /// if there is none.
  public init?(fileExtension word: String) {
    let word = word.lowercased()
    let row = FormatTable.rows.first { $0.fileExtensions.contains(word) }
    guard let format = row?.writtenFormat else { return nil }
    self = format
  }

  /// The format in which animations are written to files of this format, or nil if there is none. For a still PNG, it is
  /// APNG, because a PNG can hold an animation.
  package var writtenFormat: AnimationFormat? {
    writable == nil ? FormatTable.row(of: self)?.writtenFormat : self
  }

  /// The format in which changed images of this format are written unless another one is requested.
  package var outputFormat: AnimationFormat { writtenFormat ?? .default }
  /// The name of the format with its article, such as "a GIF".
  package var nameWithArticle: String {
    let name = rawValue.uppercased()
    return (name.first.map { "AEIO".contains($0) } ?? false ? "an " : "a ") + name
  }
  /// Whether a frame in this format is limited to 256 colours, all of them opaque. False if the format cannot be
  /// written. See ``WritableFormat/hasPalettes``.
  package var hasPalettes: Bool { writable?.hasPalettes ?? false }
}

/// A type that produces the bytes of one animation. The methods are called in the order in which the file is written,
/// from one thread at a time.
package protocol AnimationEncoding: Sendable {
  /// Whether pictures must have 16 bits per sample. If false, pictures must have 8 bits per sample.
  var isDeep: Bool { get }
  /// Whether other decoders agree on the result of the disposal *background*.
  var canDisposeToBackground: Bool { get }
  /// Returns the bytes that precede the first frame of a file with `frameCount` frames.
  func start(frameCount: Int) -> [UInt8]
  /// Returns the part of ``start(frameCount:)`` that depends on the number of frames, and the offset of that part, or
  /// nil if the format does not store the number of frames.
  func count(_ frameCount: Int) -> (bytes: [UInt8], offset: Int)?
  /// Returns the bytes of the static image.
  mutating func poster(_ coded: CodedFrame) -> [UInt8]
  /// Returns the bytes of the next frame.
  mutating func frame(
    _ coded: CodedFrame, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod
  ) -> [UInt8]
  /// The bytes after the last frame.
  var end: [UInt8] { get }
  /// Creates an encoder for the frames, to be used by one thread at a time.
  ///
  /// - Parameter effort: A lower effort for trials, or nil for the file's own effort.
  func makeFrameEncoder(effort: EncodingEffort?) -> any FrameCompressing
  /// The memory, in bytes, that one frame encoder needs for a frame as large as the canvas.
  var workingByteCount: Int { get }
}

/// A type that compresses frames independently of each other, so that several threads can work concurrently.
package protocol FrameCompressing: AnyObject, Sendable {
  /// Compresses the pixels of a frame. The result depends only on `work`.
  ///
  /// - Parameter isCancelled: Called repeatedly during the compression. If it returns true, `cancelled` is thrown.
  func encode(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame
}
