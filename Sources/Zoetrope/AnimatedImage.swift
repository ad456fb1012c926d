/// An opened GIF or PNG: its frames, plays and metadata, without pixels until they are asked for.
public struct AnimatedImage: Sendable {
  /// The file's format.
  public var format: AnimationFormat { header.format }
  /// Width and height of every composited frame.
  public var canvasSize: PixelSize { header.canvasSize }
  /// How often the animation plays in total.
  public let playCount: PlayCount
  /// The frames, in order.
  public let frames: [FrameControl]
  /// How the image was opened.
  public let options: DecodingOptions
  let header: ImageHeader

  package init(
    header: ImageHeader, playCount: PlayCount, frames: [FrameControl], options: DecodingOptions
  ) {
    self.header = header
    self.playCount = playCount
    self.frames = frames
    self.options = options
  }

  /// Opens the image in `bytes`: scans its structure and decodes no pixels.
  public init(bytes: [UInt8], options: DecodingOptions = .init()) throws(AnimatedImageError) {
    throw AnimatedImageError(.unsupported, "not yet")
  }
}
