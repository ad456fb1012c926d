import SystemPackage
import Zoetrope

#if canImport(Glibc)
  import Glibc
#endif

/// Reads and writes a frame store as fast as it can, and checks every pixel that it is given.
///
/// `table-churn DIRECTORY SEED SECONDS [readers]`: several at once, some killed, show that no frame is
/// ever torn. Prints how many frames were found; status 1 after a wrong one.
@main enum TableChurn {
  static let sizes = [PixelSize(width: 40, height: 30), PixelSize(width: 64, height: 48)]
  static let limit = 1 << 20

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 3, let seed = UInt64(arguments[2]), let time = Double(arguments[3])
    else { return fail("usage: table-churn DIRECTORY SEED SECONDS [readers]") }
    guard let store = open(FilePath(arguments[1])) else { return }
    let onlyReads = arguments.count > 4
    var random = seed
    let end = ContinuousClock.now + .seconds(time)
    var leases: [(UInt64, CachedFrame)] = []
    var (found, kept, refused) = (0, 0, 0)
    while ContinuousClock.now < end {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let choice = Int(random >> 33)
      let (animation, index) = (choice % 7, choice / 7 % 40)
      let size = sizes[choice / 280 % sizes.count]
      let key = AnimationKey(
        content: ContentIdentity(high: UInt64(animation), low: 1), rendition: .canvas(size))[index]
      let seed = UInt64(animation) << 32 | UInt64(index) << 8 | 1
      if let frame = store.frame(for: key) {
        found += 1
        guard isRight(frame, seed) else { return fail("a wrong frame: \(key)") }
        leases.append((seed, frame))
        if leases.count > choice / 1000 % 32 {
          let (seed, frame) = leases.removeFirst()
          guard isRight(frame, seed) else { return fail("a frame changed while it was in use") }
        }
      } else if !onlyReads {
        do throws(AnimatedImageError) {
          try store.keep(CachedFrame(make(size, seed), damage: damage(seed)), for: key)
          kept += 1
        } catch {
          guard [.storeBusy, .storeFull, .storeDamaged].contains(error.code) else {
            return fail("\(error)")
          }
          refused += 1
        }
      }
      if !onlyReads, choice % 4001 == 0 { store.remove(key.animation.content) }
      if !onlyReads, choice % 30011 == 0 { store.removeAll() }
      if !onlyReads, choice % 5003 == 0 { try? store.prune(to: limit / 2) }
    }
    print("found \(found), kept \(kept), refused \(refused)")
  }

  /// The store; ends the program with status 3 and the reason when it cannot be used.
  static func open(_ path: FilePath) -> FrameStore? {
    do throws(AnimatedImageError) {
      return try FrameStore(at: path, byteLimit: limit)
    } catch {
      print("no store: \(error)")
      exit(3)
    }
  }

  static func fail(_ message: String) {
    print(message)
    exit(1)
  }

  static func make(_ size: PixelSize, _ seed: UInt64) -> Bitmap {
    var buffer = PixelBuffer(size: size)
    var bytes = buffer.mutableBytes
    for y in 0..<size.height {
      for x in 0..<size.width {
        bytes.storeBytes(
          of: word(seed, x, y), toByteOffset: y * size.width.rowBytes + x * 4, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  static func word(_ seed: UInt64, _ x: Int, _ y: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: (seed &+ UInt64(y << 12 | x)) &* 0x9e37_79b9_7f4a_7c15 >> 20)
  }

  static func damage(_ seed: UInt64) -> Damage? {
    seed >> 8 & 3 == 0
      ? Damage(.lzwTruncated, "seed \(seed)", frameIndex: 3, byteOffset: Int(seed)) : nil
  }

  static func isRight(_ frame: CachedFrame, _ seed: UInt64) -> Bool {
    guard frame.damage == damage(seed) else { return false }
    let bitmap = frame.bitmap
    for y in 0..<bitmap.height {
      let row = bitmap.pixels(row: y)
      for x in 0..<bitmap.width where row[x].word != word(seed, x, y) { return false }
    }
    return true
  }
}

extension Int {
  /// Bytes of a row of so many pixels.
  fileprivate var rowBytes: Int { PixelFormat.rgba8.bytesPerRow(width: self) }
}
