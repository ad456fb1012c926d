import Zoetrope
import ZoetropeTestSupport

/// The memory of a stage, filled with random bytes. Never freed, because the program ends soon.
enum RandomBytes {
  static func make(count: Int, seed: UInt64) -> UnsafeMutableRawPointer {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    var random = SplitMix64(seed: seed)
    for place in 0..<count {
      unsafe bytes.storeBytes(
        of: UInt8(truncatingIfNeeded: random.next()), toByteOffset: place, as: UInt8.self)
    }
    return unsafe bytes
  }
}

/// Undoing the Paeth filter of RGB rows.
enum UnfilterStage {
  static func make() -> Stage {
    let (width, height) = (640, 480)
    let rowBytes = width * 3
    let rows = unsafe RandomBytes.make(count: (rowBytes + 1) * height + 64, seed: 1)
    for y in 0..<height {
      unsafe rows.storeBytes(of: 4, toByteOffset: y * (rowBytes + 1), as: UInt8.self)
    }
    return Stage(name: "unfilter", item: "pixel", items: width * height) {
      let done = unsafe PNGUnfilter.unfilter(rows, rows: height, rowBytes: rowBytes, pixelSize: 3)
      Calibration.keep(UInt64(done))
    }
  }
}

/// Expanding RGB rows to RGBA.
enum ExpandStage {
  static func make() -> Stage {
    let count = 640 * 480
    let source = unsafe RandomBytes.make(count: count * 3 + 64, seed: 2)
    let target = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    unsafe target.initialize(repeating: 0, count: count)
    let palette = [UInt32](repeating: 0, count: 256)
    return Stage(name: "expand", item: "pixel", items: count) {
      unsafe RowExpander.write(.rgb8, from: source, to: target, count: count, palette: palette)
      Calibration.keep(UInt64(unsafe target[7]))
    }
  }
}

/// Blending RGBA of any alpha over RGBA of any alpha.
enum BlendStage {
  static func make() -> Stage {
    let count = 320 * 240
    let source = unsafe RandomBytes.make(count: count * 4, seed: 3)
    let target = unsafe RandomBytes.make(count: count * 4, seed: 4).assumingMemoryBound(
      to: UInt32.self)
    let palette = [UInt32](repeating: 0, count: 256)
    return Stage(name: "blend", item: "pixel", items: count) {
      unsafe RowBlender.over(.rgba8, from: source, to: target, count: count, palette: palette)
      Calibration.keep(UInt64(unsafe target[7]))
    }
  }
}

/// Scaling a picture to half its width and height, bilinear, with correct alpha.
enum ScaleStage {
  static func make() throws -> Stage {
    let size = PixelSize(width: 640, height: 480)
    var random = SplitMix64(seed: 6)
    let picture = try Bitmap(size: size) { _, row in
      for place in 0..<row.byteCount {
        let byte = UInt8(truncatingIfNeeded: random.next())
        row.storeBytes(of: place % 4 == 3 ? 255 : byte, toByteOffset: place, as: UInt8.self)
      }
    }
    let scaler = try FrameScaler(
      from: size, into: TargetSize(width: 320, height: 240), fit: .fit, filter: .bilinear)
    return Stage(name: "scale", item: "pixel", items: size.area) {
      Calibration.keep(UInt64(try scaler.scale(picture)[3, 3].red))
    }
  }
}

/// Copying a canvas of 1920 by 1080, which shows the speed of the memory, to compare with the other stages.
enum CopyStage {
  static func make() -> Stage {
    let count = 1920 * 1080 * 4
    let source = unsafe RandomBytes.make(count: count, seed: 7)
    let target = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
    return Stage(name: "copy", item: "pixel", items: count / 4) {
      unsafe target.copyMemory(from: source, byteCount: count)
      Calibration.keep(UInt64(unsafe target.load(fromByteOffset: 64, as: UInt8.self)))
    }
  }
}
