import Zoetrope

/// What a decoder made of a frame: the rows that it vouches for, as RGBA, and its report.
struct DecodedFrame: Equatable {
  var rows: [[UInt32]] = []
  var deepRows: [[SIMD4<UInt16>]] = []
  var layout = FramePixels.Layout.rgba8
  var damage: Damage?

  /// Decodes `bytes`, which start at byte `start` of the file.
  init(
    _ image: SampleImage, isInterlaced: Bool, bytes: [UInt8], start: Int = 100,
    by decoder: inout some FrameDecoding
  ) throws {
    var header = ImageHeader(
      format: .apng, canvasSize: PixelSize(width: image.width, height: image.height))
    header.bitDepth = UInt8(image.bitDepth)
    header.colorType = UInt8(image.colorType)
    header.isInterlaced = isInterlaced
    header.palette = image.palette
    header.transparency = image.transparency
    let control = FrameControl(
      index: 3, rect: PixelRect(header.canvasSize), delay: FrameDelay(centiseconds: 1),
      disposal: .keep, blend: .source, isIndependent: true, isInterlaced: isInterlaced,
      palette: .none, byteRange: start..<start + bytes.count)
    let pixels = FramePixels()
    try unsafe decoder.decode(
      control, header: header, bytes: bytes.span.bytes, into: pixels)
    layout = pixels.content.layout
    damage = pixels.damage
    let count = image.width == 0 ? 0 : pixels.content.validPixels / image.width
    for y in 0..<count {
      var row = [UInt32](repeating: 0, count: image.width)
      var deepRow = [SIMD4<UInt16>](repeating: .zero, count: image.width)
      unsafe pixels.palette.withUnsafeBufferPointer { palette in
        guard let colors = palette.baseAddress else { return }
        let source =
          unsafe UnsafeRawPointer(pixels.storage.baseAddress)
          + (pixels.content.offset + y * pixels.content.bytesPerRow)
        unsafe RowExpander.write(
          layout, from: source, to: &row, count: image.width, palette: colors)
        unsafe RowExpander.writeDeep(
          layout, from: source, to: &deepRow, count: image.width, palette: colors)
      }
      rows.append(row)
      deepRows.append(deepRow)
    }
  }
}
