import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport

/// The scanners: no input stops them, every place they name lies in the file, and the index does not
/// depend on how the bytes are split, nor on whether another thread looked ahead.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScan(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  var random = SplitMix64(seed: FuzzBytes.hash(bytes))
  var limits = DecodingLimits.default
  if random.next() % 4 == 0 {
    limits = DecodingLimits(
      canvasPixels: 4096, frameCount: 4, liveBytes: 1 << 20, pixelsPerPlay: 1 << 14,
      metadataBytes: 16, metadataTotalBytes: 24, metadataCount: 2)
  }
  if bytes.first == PNGScanner.signature[0] {
    check(PNGScanner(limits: limits), bytes, &random)
  } else {
    check(GIFScanner(limits: limits), bytes, &random)
  }
  return 0
}

private typealias Scan = Result<ScannedImage, AnimatedImageError>

private func check(_ scanner: some Scanning, _ bytes: [UInt8], _ random: inout SplitMix64) {
  let whole = scan(scanner, bytes) { bytes.count }
  // Pieces of one size, and of any size.
  let size = 1 + Int(random.next() % 32)
  let equal = scan(scanner, bytes) { size }
  let mixed = scan(scanner, bytes) { Int(random.next() % (random.next() % 2 == 0 ? 4 : 64)) }
  FuzzBytes.require(whole == equal, "in pieces of \(size):\n\(whole)\n\(equal)")
  FuzzBytes.require(whole == mixed, "in pieces:\n\(whole)\n\(mixed)")
  if case .success(let image) = whole { check(image, bytes.count) }
}

private func scan<Scanner: Scanning>(
  _ scanner: Scanner, _ bytes: [UInt8], pieces: () -> Int
) -> Scan {
  Result { () throws(AnimatedImageError) in
    var scanner = scanner
    var position = 0
    while position < bytes.count {
      let end = min(position + pieces(), bytes.count)
      try scanner.feed(bytes.rawBytes.extracting(position..<end))
      position = end
    }
    try scanner.finish()
    return scanner.image
  }
}

/// What holds for every index.
private func check(_ image: ScannedImage, _ count: Int) {
  // What follows the end of the image is not consumed.
  FuzzBytes.require(image.byteCount <= count, "\(image.byteCount) of \(count) bytes")
  FuzzBytes.require(image.damage.count <= 2000, "\(image.damage.count) damages")
  var end = 0
  for (index, control) in image.frames.enumerated() {
    FuzzBytes.require(control.index == index, "frame \(index) is \(control.index)")
    FuzzBytes.require(
      control.byteRange.lowerBound >= end && control.byteRange.upperBound <= count,
      "frame \(index) at \(control.byteRange) of \(count)")
    end = control.byteRange.upperBound
  }
  for control in [image.cutFrame, image.staticImage].compactMap({ $0 }) {
    FuzzBytes.require(control.byteRange.upperBound <= count, "\(control)")
  }
  for damage in image.damage {
    FuzzBytes.require((0...count).contains(damage.byteOffset), "\(damage) of \(count)")
  }
}
