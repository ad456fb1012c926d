import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Supplies pictures from files, all of one size. Each file is opened when its picture is needed.
final class FilePictures: PictureSupply {
  private let sources: [FrameFiles.Source]
  private var options: DecodingOptions
  /// The size of all pictures.
  let size: PixelSize
  /// The metadata of the first picture.
  let metadata: AnimationMetadata
  /// Whether any picture has 16 bits per sample.
  let isDeep: Bool
  /// The number of bytes of all files together.
  let byteCount: Int
  /// The picture that was read last.
  private var last: CompositedFrame?

  /// Opens every file once, without decoding pixels.
  ///
  /// - Throws: A failure with the name of the file if a file cannot be opened, is not a still picture, or differs in
  ///   size from the first one.
  init(_ sources: [FrameFiles.Source], _ options: DecodingOptions) throws(CommandFailure) {
    self.sources = sources
    self.options = options
    var first: AnimatedImage?
    var byteCount = 0
    var isDeep = false
    for source in sources {
      let image = try Self.open(source, options)
      byteCount += image.byteCount
      isDeep = isDeep || image.header.isDeep
      guard let size = first?.canvasSize else {
        first = image
        continue
      }
      guard image.canvasSize == size else {
        throw .usage(
          "\(sources[0].name) is \(size) and \(source.name) is \(image.canvasSize); all frames "
            + "must have the same size")
      }
    }
    guard let first else { throw .usage("there are no pictures") }
    (size, metadata, self.byteCount) = (first.canvasSize, first.metadata, byteCount)
    self.isDeep = isDeep
    self.options.keeps16Bit = isDeep
  }

  private static func open(
    _ source: FrameFiles.Source, _ options: DecodingOptions
  ) throws(CommandFailure) -> AnimatedImage {
    let image: AnimatedImage
    switch source {
    case .file(let input): image = try input.open(options)
    case .bytes(let bytes, _):
      do throws(AnimatedImageError) {
        image = try AnimatedImage(bytes: bytes, options: options)
      } catch {
        throw CommandFailure(error, file: source.name, damage: options.damage)
      }
    }
    var failure: CommandFailure?
    // The rows of a truncated picture can be kept. Other damage may have changed all of its colours, or made an
    // animation look like a still picture.
    let keepsCut =
      options.damage == .partialRows && !image.damage.contains { $0.kind == .pngStaticOnly }
    if let damage = image.damage.first(where: {
      !$0.kind.isTolerated && !(keepsCut && $0.kind == .cutFrame && $0.frameIndex == 0)
    }) {
      failure = CommandFailure(.undecodable, code: damage.kind.name, damage.detail)
      failure?.byte = damage.byteOffset
    } else if image.frames.count != 1 || image.staticImage != nil {
      failure = .usage(
        image.frames.count == 1
          ? "the file has a static image besides its frame; zoetrope extract --static include "
            + "writes both as pictures"
          : "the file has \(image.frames.count) frames instead of one; zoetrope extract writes "
            + "them as pictures")
    }
    failure?.file = source.name
    if let failure { throw failure }
    return image
  }

  func picture(_ index: Int) throws(AnimatedImageError) -> CompositedFrame {
    if let last, last.index == index { return last }
    last = nil
    let image: AnimatedImage
    do throws(CommandFailure) {
      image = try Self.open(sources[index], options)
    } catch {
      throw AnimatedImageError(.io, error.messageWithAdvice).inFrame(index)
    }
    guard image.canvasSize == size else {
      throw AnimatedImageError(.io, "the file changed while it was being read").inFrame(index)
    }
    let frame = try decoded(image, index)
    last = frame
    return frame
  }

  /// Returns the picture in `input` for use as the poster, a static image that is not a frame.
  func poster(_ input: InputFile) throws(CommandFailure) -> Bitmap {
    let image = try Self.open(.file(input), options)
    guard image.canvasSize == size else {
      throw .usage("the poster \(input.name) is \(image.canvasSize), but the frames are \(size)")
    }
    do throws(AnimatedImageError) {
      let frame = try decoded(image, 0)
      if let loss = frame.damage, !loss.kind.isTolerated { throw loss.error(format: image.format) }
      return frame.bitmap
    } catch {
      throw CommandFailure(error, file: input.name, damage: options.damage)
    }
  }

  /// Decodes the only frame of `image`, which is the picture with the given index.
  ///
  /// - Throws: The frame's damage as an error, if any data was lost and the decoded rows are not to be kept.
  private func decoded(
    _ image: AnimatedImage, _ index: Int
  ) throws(AnimatedImageError) -> CompositedFrame {
    var image = image
    // An 8-bit picture is decoded to 8 bits; the writer converts it to 16 bits without loss.
    image.options.keeps16Bit = options.keeps16Bit && image.header.isDeep
    let frame: CompositedFrame
    do throws(AnimatedImageError) {
      frame = try FrameReader(image).frame(at: 0) { Signals.ending != nil }
    } catch {
      throw error.inFrame(index)
    }
    if let damage = frame.damage, !damage.kind.isTolerated, options.damage != .partialRows {
      throw damage.inFrame(index).error(format: image.format)
    }
    // The changed rectangle is left out, because the difference from the previous picture is unknown.
    return CompositedFrame(
      index: index, bitmap: frame.bitmap, damage: frame.damage?.inFrame(index))
  }

  /// Prints a warning for each item of `losses`, whose frame index is that of a picture.
  func warn(of losses: [Damage]) {
    for damage in losses {
      guard let index = damage.frameIndex else { continue }
      // The name of the file says which picture it is. In the file, the picture has no number.
      CommandRunner.report(damage.inFrame(nil), ofFile: sources[index].name)
    }
  }

  /// Returns the failure for an error of the library, with the name of the file.
  func failure(_ error: AnimatedImageError) -> CommandFailure {
    let index = error.frameIndex.flatMap { sources.indices.contains($0) ? $0 : nil }
    var failure = CommandFailure(
      planning: error, file: index.map { sources[$0].name } ?? "", damage: options.damage)
    if index == nil { failure.file = nil }
    failure.frame = nil
    return failure
  }
}
