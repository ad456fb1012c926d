import Glibc
import MallocCount
import SystemPackage
import Zoetrope
import ZoetropeTestSupport

/// Frames of 640x480 at 200x150 from a frame store, beside decoding and scaling the same ones.
enum StoreBench {
  private static let count = 60

  static func run() throws {
    let path = FilePath("/tmp/zoetrope-store-bench-\(getpid())")
    let store = try FrameStore(at: path)
    defer { store.removeAll() }
    let bytes = DeltaGIF.make(width: 640, height: 480, frameCount: count, patch: 480)
    let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(parallelism: 1))
    let rendering = Rendering(target: TargetSize(width: 200, height: 150))
    let keys = AnimationKey(
      content: try store.identity(of: image),
      rendition: Rendition(rendering, of: image.canvasSize, options: image.options))
    let scaler = FrameScaler(from: image.canvasSize, into: TargetSize(width: 200, height: 150))
    let reader = FrameReader(image)
    var decoding: [Double] = []
    var keeping: [Double] = []
    for index in 0..<count {
      var bitmap: Bitmap?
      decoding.append(
        try CacheBench.nanoseconds {
          bitmap = try reader.next().map { scaler.scale($0.bitmap) }
        })
      guard let bitmap else { break }
      keeping.append(
        try CacheBench.nanoseconds { try store.keep(CachedFrame(bitmap), for: keys[index]) })
    }
    let first = hits(in: store, keys)
    let allocations = malloc_count()
    let warm = (0..<50).flatMap { _ in hits(in: store, keys) }
    let allocated = Double(malloc_count() - allocations) / Double(warm.count)
    let decode = CacheBench.median(decoding)
    CacheBench.report("store.decode-and-scale.median", decode / 1000, "us")
    CacheBench.report("store.keep.median", CacheBench.median(keeping) / 1000, "us")
    CacheBench.report("store.first-hit.median", CacheBench.median(first) / 1000, "us")
    CacheBench.report("store.hit.median", CacheBench.median(warm) / 1000, "us")
    CacheBench.report("store.hit.allocations", allocated, "calls a hit")
    CacheBench.report("store.hit.times-faster", decode / CacheBench.median(warm), "x")
  }

  private static func hits(in store: FrameStore, _ keys: AnimationKey) -> [Double] {
    (0..<count).map { index in
      CacheBench.nanoseconds { precondition(store.frame(for: keys[index]) != nil) }
    }
  }
}
