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
  /// The palette that frames share, as `RGBA.word` (in a GIF, opaque colours only), or nil to build one from the
  /// survey.
  package var colorTable: [UInt32]?
  /// APNG: whether pixels are stored as RGBA even if a palette or grey would suffice.
  package var storesRGBA = false
  /// GIF: extension blocks that come before the first frame.
  package var extensions: [UInt8] = []
  /// GIF: whether frames before the first one that needs a graphic control have none.
  package var omitsEmptyControls = false

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
}

/// A format in which animations can be written: its encoder, and what a file can hold.
package struct WritableFormat: Sendable {
  /// Makes the encoder of one file. Throws `limitExceeded` or `unwritable` for what does not fit the format.
  package let makeEncoder:
    @Sendable (AnimationRequest) throws(AnimatedImageError) -> any AnimationEncoding
  /// Whether a frame draws at most 256 colours, all of them opaque; otherwise any colours.
  package let hasPalettes: Bool
  /// Whether delays are whole hundredths of a second; otherwise fractions of 16 bits each.
  package let countsCentiseconds: Bool
  /// Whether a file may have a static image besides its frames.
  package let hasPoster: Bool
  /// The greatest finite number of plays.
  package let maximumPlays: Int

  package init(
    hasPalettes: Bool, countsCentiseconds: Bool, hasPoster: Bool, maximumPlays: Int,
    makeEncoder:
      @escaping @Sendable (AnimationRequest) throws(AnimatedImageError)
      -> any AnimationEncoding
  ) {
    self.hasPalettes = hasPalettes
    self.countsCentiseconds = countsCentiseconds
    self.hasPoster = hasPoster
    self.maximumPlays = maximumPlays
    self.makeEncoder = makeEncoder
  }
}

extension AnimationFormat {
  /// Nil if no animation can be written in it.
  package var writable: WritableFormat? { FormatTable.row(of: self)?.writable(as: self) }
  /// Whether ``WritableFormat/hasPalettes``; false if it cannot be written.
  package var hasPalettes: Bool { writable?.hasPalettes ?? false }
}

/// Produces the bytes of one animation. Methods are called in the order of the file, from one thread at a time.
package protocol AnimationEncoding: Sendable {
  /// Whether pictures must have 16 bits per sample; otherwise they must have 8.
  var isDeep: Bool { get }
  /// Whether a frame can make pixels transparent. If false, only the previous frame's disposal can.
  var framesCanClear: Bool { get }
  /// Whether other decoders agree on the result of the disposal *background*.
  var canDisposeToBackground: Bool { get }
  /// Returns the bytes before the first of `frameCount` frames.
  func start(frameCount: Int) -> [UInt8]
  /// Returns the bytes of ``start(frameCount:)`` that depend on the number of frames, and their position, or nil if the
  /// format does not store that number.
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
  /// The memory in bytes that one frame encoder takes for a frame of canvas size.
  var workingByteCount: Int { get }
}

/// Encodes frames independently of each other, so that several threads can work at once.
package protocol FrameCompressing: AnyObject, Sendable {
  /// Compresses the pixels of a frame. The result depends on nothing but `work`.
  ///
  /// - Parameter isCancelled: Polled every few rows.
  func encode(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CodedFrame
}
