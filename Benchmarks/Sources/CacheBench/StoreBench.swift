import Glibc
import MallocCount
import SystemPackage
import Zoetrope
import ZoetropeTestSupport

/// Compares frames from a frame store with decoding and scaling them: from the system's file cache, from the disk, and
/// by frame size. Also compares reopening a long file through the store with scanning it.
enum StoreBench {
  private static let count = 60

  static func run(keeping: FilePath? = nil) throws {
    let path = keeping ?? FilePath("/tmp/zoetrope-store-bench-\(getpid())")
    let target = TargetSize(width: 200, height: 150)
    let scene = try Scene(width: 640, height: 480, target: target, count: count, at: path)
    let decoding = try scene.decode()
    let first = scene.hits()
    let allocations = malloc_count()
    let warm = (0..<50).flatMap { _ in scene.hits() }
    let allocated = Double(malloc_count() - allocations) / Double(warm.count)
    let decode = CacheBench.median(decoding)
    CacheBench.report("store.decode-and-scale.median", decode / 1000, "us")
    CacheBench.report("store.keep.median", CacheBench.median(scene.keeping) / 1000, "us")
    CacheBench.report("store.first-hit.median", CacheBench.median(first) / 1000, "us")
    CacheBench.report("store.hit.median", CacheBench.median(warm) / 1000, "us")
    CacheBench.report("store.hit.allocations", allocated, "calls a hit")
    CacheBench.report("store.hit.times-faster", decode / CacheBench.median(warm), "x")
    if keeping != nil { return }
    scene.store.removeAll()
    try runCold(at: path, target)
    try runLine(at: path)
    try runReopening(at: path)
  }

  /// Reads each frame from the disk. The file cache is emptied before each.
  private static func runCold(at path: FilePath, _ target: TargetSize) throws {
    let scene = try Scene(width: 640, height: 480, target: target, count: count, at: path)
    let decode = CacheBench.median(try scene.decode())
    let keys = scene.keys
    try scene.close()
    var (single, resident): ([Double], Int) = ([], 0)
    for index in 0..<count {
      resident += try dropPages(of: path)
      let store = try FrameStore(at: path)
      // Open the table now, because that is not part of a hit.
      _ = store.contains(keys[index])
      single.append(
        CacheBench.nanoseconds { precondition(store.frame(for: keys[index]) != nil) })
    }
    resident += try dropPages(of: path)
    let store = try FrameStore(at: path)
    let all = CacheBench.nanoseconds {
      for index in 0..<count { precondition(store.frame(for: keys[index]) != nil) }
    }
    CacheBench.report("store.cold-hit.decode-and-scale.median", decode / 1000, "us")
    CacheBench.report("store.cold-hit.single.median", CacheBench.median(single) / 1000, "us")
    CacheBench.report("store.cold-hit.in-order.mean", all / 1000 / Double(count), "us")
    CacheBench.report("store.cold-hit.pages-left", Double(resident), "pages")
    store.removeAll()
  }

  /// Compares decoding with hits for small frames, to find where a slot is not worth it.
  private static func runLine(at path: FilePath) throws {
    for (side, part) in [16, 32, 64, 96, 128, 256].flatMap({ [($0, 1), ($0, 8)] }) {
      let box = TargetSize(width: side, height: side)
      let scene = try Scene(
        width: side, height: side, target: box, patch: max(side / part, 2), count: count, at: path)
      let decode = try scene.decode()
      let keeping = CacheBench.median(scene.keeping)
      let keys = scene.keys
      try scene.close()
      let store = try FrameStore(at: path)
      let first = (0..<count).map { index in
        CacheBench.nanoseconds { precondition(store.frame(for: keys[index]) != nil) }
      }
      let warm = (0..<20 * count).map { index in
        CacheBench.nanoseconds { precondition(store.frame(for: keys[index % count]) != nil) }
      }
      // In each frame, either the whole picture changes, or a part with an eighth of each side.
      let name = "store.line.\(side)x\(side).\(part == 1 ? "whole" : "part")"
      CacheBench.report("\(name).decode.median", CacheBench.median(decode) / 1000, "us")
      CacheBench.report("\(name).keep.median", keeping / 1000, "us")
      CacheBench.report("\(name).first-hit.median", CacheBench.median(first) / 1000, "us")
      CacheBench.report("\(name).hit.median", CacheBench.median(warm) / 1000, "us")
      store.removeAll()
    }
  }

  /// Measures reopening a file of 2,000 frames and some 20 MB.
  private static func runReopening(at path: FilePath) throws {
    let file = path.appending("long.gif")
    let bytes = DeltaGIF.make(width: 640, height: 480, frameCount: 2000, patch: 96)
    let descriptor = try FileDescriptor.open(
      file, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try descriptor.writeAll(bytes)
    try descriptor.close()
    defer { unlink(file.string) }
    // Files changed within the last two seconds are not recorded.
    sleep(3)
    let store = try FrameStore(at: path)
    let known = try AnimatedImage(contentsOf: file, knownTo: store)
    _ = try store.identity(of: known)
    let scan = try (0..<15).map { _ in
      try CacheBench.nanoseconds { _ = try AnimatedImage(contentsOf: file) }
    }
    let reopen = try (0..<15).map { _ in
      try CacheBench.nanoseconds { _ = try AnimatedImage(contentsOf: file, knownTo: store) }
    }
    let identity = try (0..<15).map { _ in
      try CacheBench.nanoseconds { _ = try store.identity(of: known) }
    }
    CacheBench.report("store.scan.median", CacheBench.median(scan) / 1000, "us")
    CacheBench.report("store.reopen.median", CacheBench.median(reopen) / 1000, "us")
    CacheBench.report("store.known-identity.median", CacheBench.median(identity) / 1000, "us")
    store.removeAll()
  }

  /// Writes the tables to disk and drops their pages from the file cache.
  ///
  /// Returns the number of pages that stayed.
  private static func dropPages(of path: FilePath) throws -> Int {
    var left = 0
    guard let directory = opendir(path.string) else { return 0 }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasSuffix(".frames") else { continue }
      let file = try FileDescriptor.open(path.appending(name), .readOnly)
      defer { try? file.close() }
      fsync(file.rawValue)
      posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
      let size = Int(lseek(file.rawValue, 0, SEEK_END))
      guard let bytes = mmap(nil, size, PROT_READ, MAP_SHARED, file.rawValue, 0) else { continue }
      var pages = [UInt8](repeating: 0, count: (size + 4095) / 4096)
      mincore(bytes, size, &pages)
      munmap(bytes, size)
      left += pages.count { $0 & 1 != 0 }
    }
    return left
  }

  /// An animation, and the store that keeps its frames.
  private final class Scene {
    private(set) var store: FrameStore
    let keys: AnimationKey
    private(set) var keeping: [Double] = []
    private let image: AnimatedImage
    private let target: TargetSize
    private let count: Int
    private let path: FilePath

    init(
      width: Int, height: Int, target: TargetSize, patch: Int = 480, count: Int, at path: FilePath
    ) throws {
      store = try FrameStore(at: path)
      self.path = path
      self.target = target
      self.count = count
      let bytes = DeltaGIF.make(width: width, height: height, frameCount: count, patch: patch)
      image = try AnimatedImage(bytes: bytes, options: DecodingOptions(parallelism: 1))
      keys = AnimationKey(
        content: try store.identity(of: image),
        rendition: Rendition(
          Rendering(target: target), of: image.canvasSize, options: image.options))
    }

    /// Decodes, scales and stores each frame. Returns the times of decoding and scaling.
    func decode() throws -> [Double] {
      let scaler = try FrameScaler(from: image.canvasSize, into: target)
      let reader = FrameReader(image)
      var times: [Double] = []
      for index in 0..<count {
        var bitmap: Bitmap?
        times.append(
          try CacheBench.nanoseconds {
            bitmap = try reader.next().map { try scaler.scale($0.bitmap) }
          })
        guard let bitmap else { break }
        keeping.append(
          try CacheBench.nanoseconds { try store.store(CachedFrame(bitmap), for: keys[index]) })
      }
      return times
    }

    func hits() -> [Double] {
      (0..<count).map { index in
        CacheBench.nanoseconds { precondition(store.frame(for: keys[index]) != nil) }
      }
    }

    /// Unmaps the tables, because mapped pages stay in the file cache.
    func close() throws { store = try FrameStore(at: path) }
  }
}
