import Foundation
import Synchronization
import SystemPackage
import Zoetrope

#if canImport(Glibc)
  import Glibc
#endif

/// Reads and writes a frame store as fast as it can, and checks every pixel that it is given.
///
/// `table-churn DIRECTORY SEED SECONDS [readers | check | stop:N | hold | maps | guard…]`: several at once, some
/// killed, show that no frame is ever torn. Makes at least 400 lookups, however few the seconds. Prints how many
/// frames were found; status 1 after a wrong one. `stop:N`, in a debug build, kills the program before its system
/// call N on a file of the store. `check` looks every frame up once and prints how many there are. `hold` reads
/// every frame of a large table, keeps all, and prints the memory that this process takes.
///
/// `maps` keeps frames of 24 sizes in a store of SECONDS MB, and looks all up.
///
/// `writes` writes a file after open tables of a store and other files have taken all descriptors.
///
/// `sizes` fills a store of 32 MB with ten sizes in turn, and prints which share of each is found at its end.
///
/// `table-churn DIRECTORY WIDTH BYTES load [KIB]` loads the files of the directory with a loader, WIDTH at a time under
/// a budget of BYTES, with status 1 if the peak of memory grew by more than KIB. `table-churn DIRECTORY 0 0 long`
/// writes files for it that have long lists of frames.
/// `table-churn DIRECTORY 0 0 threads` prints the most threads that one frame is decoded on, and `pool` how many
/// blocks wait for a canvas of three, with less and less memory.
@main enum TableChurn {
  static let sizes = [PixelSize(width: 40, height: 30), PixelSize(width: 64, height: 48)]
  static let limit = 1 << 20
  /// Lookups made however little time there is.
  static let minimumCount = 400

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count > 3, let seed = UInt64(arguments[2]), let time = Double(arguments[3])
    else { return fail("usage: table-churn DIRECTORY SEED SECONDS [readers]") }
    let mode = arguments.count > 4 ? arguments[4] : ""
    if mode == "sizes" { return fillInTurn(FilePath(arguments[1])) }
    if mode == "maps" { return mapAll(FilePath(arguments[1]), Int(time) << 20) }
    if mode == "writes" { return writeWithoutDescriptors(FilePath(arguments[1])) }
    if mode == "hold" { return hold(FilePath(arguments[1]), time) }
    if mode == "load" || mode == "open" {
      return load(
        FilePath(arguments[1]), byteLimit: Int(time), width: Int(seed),
        bound: arguments.count > 5 ? Int(arguments[5]) : nil, opensAlone: mode == "open")
    }
    if mode == "pool" { return countBlocks() }
    if mode == "threads" { return print(DecodingOptions().threadCount) }
    if mode == "long" { return writeLongFiles(FilePath(arguments[1])) }
    if mode.hasPrefix("guard") { return raiseFault(FilePath(arguments[1]), mode) }
    if mode == "check" { return check(FilePath(arguments[1])) }
    #if DEBUG
      if mode.hasPrefix("stop:"), let place = Int(mode.dropFirst(5)) {
        let count = Atomic(0)
        return TableCall.$plan.withValue({ _ in
          count.add(1, ordering: .relaxed).oldValue == place ? .kill : nil
        }) { churn(FilePath(arguments[1]), seed, time, onlyReads: false) }
      }
    #endif
    churn(FilePath(arguments[1]), seed, time, onlyReads: mode == "readers")
  }

  /// Sends SIGBUS to this process while a table is mapped, or after the store was closed.
  ///
  /// Words in the mode: with `host`, this program has a handler of its own, which ends it with
  /// status 42; with `once`, the handler is called once and sends the signal again, to end the
  /// process by it; with `masked`, it checks that a signal of its mask is blocked; with `nested`, it
  /// may interrupt itself, and ends the process when it does. With `fault`, the signal comes from
  /// reading past the end of a file.
  static func raiseFault(_ path: FilePath, _ mode: String) {
    var action = sigaction()
    if mode.contains("host") {
      unsafe action.__sigaction_handler.sa_handler = { _ in _exit(42) }
    } else if mode.contains("once") {
      unsafe action.__sigaction_handler.sa_handler = { number in raise(number) }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    } else if mode.contains("masked") {
      unsafe sigaddset(&action.sa_mask, SIGUSR1)
      // The parent may have blocked signals.
      var none = sigset_t()
      unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
      unsafe action.__sigaction_handler.sa_handler = { _ in
        var blocked = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &blocked)
        let isMasked = unsafe sigismember(&blocked, SIGUSR1) == 1
        let isOther = unsafe sigismember(&blocked, SIGUSR2) == 1
        _exit(isMasked && !isOther ? 42 : 43)
      }
    } else if mode.contains("nested") {
      unsafe action.__sigaction_handler.sa_handler = { number in
        if TableChurn.depth.add(1, ordering: .relaxed).oldValue > 0 { _exit(42) }
        raise(number)
        _exit(43)
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_NODEFER))
    }
    unsafe sigaction(SIGBUS, &action, nil)
    do {
      guard let store = open(path) else { return }
      let key = key(0, 0, sizes[0])
      store.storeIfPossible(CachedFrame(make(sizes[0], 1)), for: key)
      let frame = store.frame(for: key)
      if !mode.contains("closed") { fault(path, mode) }
      guard frame != nil else { return fail("no frame") }
    }
    if mode.contains("closed") { fault(path, mode) }
    print("survived")
  }

  /// How many handlers of ``raiseFault(_:_:)`` were called.
  private static let depth = Atomic(0)

  private static func fault(_ path: FilePath, _ mode: String) {
    guard mode.contains("fault") else { return _ = raise(SIGBUS) }
    let file = unsafe creat(path.string + ".empty", 0o600)
    let readable = unsafe Glibc.open(path.string + ".empty", O_RDONLY)
    guard file >= 0, readable >= 0,
      let bytes = unsafe mmap(nil, 4096, PROT_READ, MAP_SHARED, readable, 0)
    else { return fail("no mapping") }
    print(unsafe bytes.load(as: UInt8.self))
  }

  /// Every frame that may be there.
  static func check(_ path: FilePath) {
    guard let store = open(path) else { return }
    var found = 0
    for choice in 0..<7 * 40 * sizes.count {
      let (animation, index) = (choice % 7, choice / 7 % 40)
      let key = key(animation, index, sizes[choice / 280 % sizes.count])
      guard let frame = store.frame(for: key) else { continue }
      guard isRight(frame, UInt64(animation) << 32 | UInt64(index) << 8 | 1) else {
        return fail("a wrong frame: \(key)")
      }
      found += 1
    }
    if let error = store.lastError, error.code != .storeDamaged { return fail("\(error)") }
    print(found)
  }

  static func key(_ animation: Int, _ index: Int, _ size: PixelSize) -> FrameKey {
    AnimationKey(
      content: ContentIdentity(high: UInt64(animation), low: 1), rendition: .canvas(size))[index]
  }

  static func churn(_ path: FilePath, _ seed: UInt64, _ time: Double, onlyReads: Bool) {
    guard let store = open(path) else { return }
    var random = seed
    let end = ContinuousClock.now + .seconds(time)
    var leases: [(UInt64, CachedFrame)] = []
    var (found, kept, refused, count) = (0, 0, 0, 0)
    while ContinuousClock.now < end || count < minimumCount {
      count += 1
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let choice = Int(random >> 33)
      let (animation, index) = (choice % 7, choice / 7 % 40)
      let size = sizes[choice / 280 % sizes.count]
      let key = key(animation, index, size)
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
          try store.store(CachedFrame(make(size, seed), damage: damage(seed)), for: key)
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

  /// Holds all frames of one table of 64 MB for `time` seconds, then prints how much of its memory is this process's
  /// share (Pss) and how much is resident (Rss).
  static func hold(_ path: FilePath, _ time: Double) {
    guard let store = open(path, 256 << 20) else { return }
    let size = PixelSize(width: 512, height: 512)
    let animation = AnimationKey(
      content: ContentIdentity(high: 1, low: 1), rendition: .canvas(size))
    var frames: [CachedFrame] = []
    var sum: UInt64 = 0
    for index in 0..<64 {
      if store.frame(for: animation[index]) == nil {
        store.storeIfPossible(CachedFrame(make(size, UInt64(index))), for: animation[index])
      }
      guard let frame = store.frame(for: animation[index]) else { return fail("no frame \(index)") }
      for y in 0..<size.height { sum &+= UInt64(frame.bitmap.pixels(row: y)[y].word) }
      frames.append(frame)
    }
    let end = ContinuousClock.now + .seconds(time)
    while ContinuousClock.now < end { usleep(100_000) }
    let rollup = (try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)) ?? ""
    for line in rollup.split(separator: "\n")
    where ["Rss:", "Pss:", "Anonymous:"].contains(where: { line.hasPrefix($0) }) {
      print(line)
    }
    print("held \(frames.count), sum \(sum)")
  }

  /// Fills a store of 32 MB to nine tenths, with one size after the other.
  static func fillInTurn(_ path: FilePath) {
    for number in 0..<10 {
      guard let store = open(path, 32 << 20) else { return }
      let size = PixelSize(width: 400 + number, height: 221)
      let animation = AnimationKey(
        content: ContentIdentity(high: 1, low: 1), rendition: .canvas(size))
      let frame = CachedFrame(make(size, UInt64(number)))
      let count = (30 << 20) / frame.byteCount
      for index in 0..<count { store.storeIfPossible(frame, for: animation[index]) }
      let found = (0..<count).count { store.frame(for: animation[$0]) != nil }
      let byteCount = store.statistics.byteCount
      print("\(size): \(found) of \(count) frames found, \(byteCount) bytes on disk")
      if found * 10 < count * 9 || byteCount > 32 << 20 { return fail("too few, or too much") }
    }
  }

  /// Keeps a frame of each of 24 sizes in a store of `limit` bytes, and looks all up, twice.
  static func mapAll(_ path: FilePath, _ limit: Int) {
    guard let store = open(path, limit) else { return }
    let sizes = (0..<24).map { PixelSize(width: 40 + $0, height: 30) }
    do throws(AnimatedImageError) {
      for size in sizes { try store.store(CachedFrame(make(size, 1)), for: key(0, 0, size)) }
    } catch {
      return fail("\(error)")
    }
    for size in sizes + sizes where store.frame(for: key(0, 0, size)) == nil {
      return fail("no frame of \(size): \(store.lastError.map { "\($0)" } ?? "")")
    }
    print("mapped \(sizes.count)")
  }

  /// Opens four tables of a store, takes all descriptors that are left, and writes a file.
  static func writeWithoutDescriptors(_ path: FilePath) {
    guard let store = open(path) else { return }
    do throws(AnimatedImageError) {
      for width in 40..<44 {
        let size = PixelSize(width: width, height: 30)
        try store.store(CachedFrame(make(size, 1)), for: key(0, 0, size))
      }
      while dup(0) >= 0 {}
      let writer = try AnimationWriter(to: FileSink(FilePath(path.string + ".png")))
      try writer.append(make(sizes[0], 1), delay: FrameDelay(centiseconds: 10))
      let written = try writer.finish()
      print("wrote \(written.frameCount)")
    } catch {
      return fail("\(error)")
    }
    withExtendedLifetime(store) {}
  }

  /// Frees three blocks of 1 MiB of one canvas, and prints how many wait: at first, with a budget of 8 MiB, and after
  /// everything was released.
  static func countBlocks() {
    let size = 1 << 20
    var stamp = PictureStamp.newCanvas()
    do throws(AnimatedImageError) {
      var blocks: [PixelStorage] = []
      for _ in 0..<3 {
        let block = try PixelStorage.next(size, of: stamp.canvas).storage
        block.stamp = stamp
        stamp = stamp.next ?? stamp
        blocks.append(block)
      }
    } catch {
      return fail("\(error)")
    }
    var counts = [PixelMemory.blockCount(of: size)]
    MemoryBudget.shared.byteLimit = 8 << 20
    counts.append(PixelMemory.blockCount(of: size))
    MemoryBudget.shared.removeAll()
    counts.append(PixelMemory.blockCount(of: size))
    print(counts)
  }

  /// The store; ends the program with status 3 and the reason when it cannot be used.
  static func open(_ path: FilePath, _ limit: Int = limit) -> FrameStore? {
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
  /// The number of bytes in a row of this many pixels.
  fileprivate var rowBytes: Int { PixelFormat.rgba8.bytesPerRow(width: self) }
}
