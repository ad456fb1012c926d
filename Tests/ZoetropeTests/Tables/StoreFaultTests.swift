#if DEBUG
  import Glibc
  import Synchronization
  import SystemPackage
  import TestRunning
  import Testing
  import Zoetrope

  /// Every system call of a store fails once, in every way that it may, and at every place.
  @Suite(.timeLimit(.minutes(10)), .startsThreads) struct StoreFaultTests {
    private static let size = PixelSize(width: 20, height: 10)
    private let film = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().removingLastComponent()
      .appending("Fixtures/Demo/variable-delay.gif")

    /// Lets the call with number `place` fail, or all from there on.
    private final class Plan: Sendable {
      let place: Int
      let lasts: Bool
      let fault: TableCall.Fault?
      let only: Set<TableCall>
      private let count = Mutex(0)

      init(
        at place: Int, _ fault: TableCall.Fault?, lasts: Bool = false,
        only: Set<TableCall> = Set(TableCall.allCases)
      ) {
        (self.place, self.fault, self.lasts, self.only) = (place, fault, lasts, only)
      }

      var callCount: Int { count.withLock { $0 } }

      func decide(_ call: TableCall) -> TableCall.Fault? {
        guard only.contains(call) else { return nil }
        // Signals do not interrupt mapping.
        if case .error(EINTR) = fault, call == .map { return nil }
        // A short hole frees nothing, which is a failure.
        if case .short = fault, call == .punch { return nil }
        let number = count.withLock { count in
          count += 1
          return count - 1
        }
        return number == place || lasts && number > place ? fault : nil
      }
    }

    private static let animation = makeAnimation(1, width: size.width, height: size.height)
    private static let frames = (0..<10).map { CachedFrame(makePixels(size, seed: $0)) }

    private func key(_ index: Int) -> FrameKey { Self.animation[index] }

    private func frame(_ seed: Int) -> CachedFrame { Self.frames[seed] }

    /// Uses a store in every way, and returns the errors. Stores frame `i` with seed `i`; fails the
    /// test if a frame is found that differs.
    private func exercise(_ directory: FilePath, under plan: Plan) -> [AnimatedImageError] {
      var errors: [AnimatedImageError] = []
      func attempt(_ body: () throws(AnimatedImageError) -> Void) {
        do throws(AnimatedImageError) { try body() } catch { errors.append(error) }
      }
      TableCall.$plan.withValue({ plan.decide($0) }) {
        attempt { () throws(AnimatedImageError) in
          let store = try FrameStore(at: directory, byteLimit: 4096 * 24)
          for index in 0..<2 {
            attempt { () throws(AnimatedImageError) in
              try store.store(frame(index), for: key(index))
            }
          }
          check(store)
          attempt { () throws(AnimatedImageError) in
            let image = try AnimatedImage(contentsOf: film, knownTo: store)
            _ = try store.identity(of: image)
          }
          store.remove(ContentIdentity(high: 77, low: 77))
          attempt { () throws(AnimatedImageError) in try store.store(frame(1), for: key(1)) }
          attempt { () throws(AnimatedImageError) in _ = try store.verify() }
          attempt { () throws(AnimatedImageError) in try store.prune(to: 4096 * 7) }
          check(store)
          if let error = store.lastError { errors.append(error) }
        }
      }
      return errors
    }

    private func check(_ store: FrameStore) {
      for index in 0..<2 {
        if let found = store.bitmap(for: key(index)) { #expect(found == frame(index).bitmap) }
      }
    }

    /// A store that was in trouble works again, and serves nothing wrong.
    private func checkRecovery(_ directory: FilePath) throws {
      let store = try FrameStore(at: directory, byteLimit: 4096 * 24)
      check(store)
      for index in 0..<2 {
        try store.store(frame(index), for: key(index))
        #expect(store.bitmap(for: key(index)) == frame(index).bitmap)
      }
      #expect(try store.verify().dropped == 0)
    }

    private static let faults: [(name: String, fault: TableCall.Fault)] = [
      ("EIO", .error(EIO)), ("ENOSPC", .error(ENOSPC)), ("EINTR", .error(EINTR)),
      ("EACCES", .error(EACCES)), ("short", .short), ("EMFILE", .error(EMFILE)),
    ]

    @Test(arguments: [false, true], faults.indices)
    func `whatever call fails, nothing wrong is shown and the store works afterwards`(
      lasts: Bool, kind: Int
    ) throws {
      let (name, fault) = Self.faults[kind]
      // A call that is interrupted for ever never ends, as intended; short ones are all short.
      if lasts, name == "EINTR" || name == "EACCES" { return }
      let scratch = try ScratchDirectory(inMemory: true)
      let free = Plan(at: .max, nil)
      #expect(exercise(scratch.path.appending("free"), under: free).isEmpty)
      #expect(free.callCount > 50)
      var failed = 0
      // Every place fails once with EIO and once by a short transfer; the others, with which fewer calls
      // differ, and faults that last take turns.
      let isDense = name == "EIO" || name == "short"
      let step = isDense ? (lasts ? 3 : 1) : 2
      for place in 0..<free.callCount where place % step == kind % step {
        let directory = scratch.path.appending("\(place)")
        let errors = exercise(directory, under: Plan(at: place, fault, lasts: lasts))
        if !errors.isEmpty { failed += 1 }
        // A signal or a short transfer is not a failure.
        if name == "EINTR" || name == "short" {
          #expect(errors.map(\.code) == [], "call \(place)")
        }
        let known: [AnimatedImageError.Code] = [
          .io, .storeFull, .storeDenied, .storeDamaged, .storeBusy, .storeUnsupported,
        ]
        for error in errors { #expect(known.contains(error.code), "call \(place): \(error)") }
        try checkRecovery(directory)
      }
      if name == "EIO" || name == "ENOSPC" { #expect(failed > free.callCount / (4 * step)) }
    }

    @Test func `a full disk is an error, not a signal, and what was stored stays`() throws {
      let scratch = try ScratchDirectory(inMemory: true)
      let directory = scratch.path.appending("store")
      try checkRecovery(directory)
      let store = try FrameStore(at: directory)
      let plan = Plan(at: 0, .error(ENOSPC), lasts: true, only: [.write, .allocate, .resize])
      TableCall.$plan.withValue({ plan.decide($0) }) {
        check(store)
        #expect(store.bitmap(for: key(0)) != nil)
        let error = #expect(throws: AnimatedImageError.self) {
          try store.store(frame(9), for: key(9))
        }
        #expect(error?.code == .storeFull)
        #expect(store.bitmap(for: key(9)) == nil)
        #expect(store.bitmap(for: key(1)) == frame(1).bitmap)
      }
    }
  }
#endif
