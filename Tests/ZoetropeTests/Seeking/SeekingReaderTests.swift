import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct SeekingReaderTests {
  private static let film = DeltaGIF.make(width: 64, height: 48, frameCount: 120, patch: 9)
  private static let plainPlay = Result { () throws -> [Bitmap] in
    let reader = FrameReader(try AnimatedImage(bytes: film))
    var bitmaps: [Bitmap] = []
    while let frame = try reader.next() { bitmaps.append(frame.bitmap) }
    return bitmaps
  }

  private let image: AnimatedImage
  private let expected: [Bitmap]

  init() throws {
    image = try AnimatedImage(bytes: Self.film)
    expected = try Self.plainPlay.get()
  }

  private func makeReader(rooms: Int) -> (SeekingReader, CheckpointStore) {
    let canvas = image.canvasSize.width * image.canvasSize.height * 4
    let store = CheckpointStore(
      for: image, budget: MemoryBudget(byteLimit: 1 << 30), byteLimit: rooms * canvas,
      isMeasuring: false)
    return (SeekingReader(image, store: store), store)
  }

  @Test(arguments: [0, 1, 2, 8, 40, 400])
  func `any order gives the pictures of a plain play`(rooms: Int) throws {
    let (reader, store) = makeReader(rooms: rooms)
    var random = SplitMix64(seed: UInt64(rooms + 1))
    var orders: [Int] = Array(0..<120) + (0..<120).reversed()
    orders += (0..<80).map { _ in Int.random(in: 0..<120, using: &random) }
    for index in orders {
      let frame = try reader.frame(at: index)
      #expect(frame.index == index)
      #expect(frame.bitmap == expected[index], "frame \(index) with room for \(rooms)")
      #expect(store.count <= max(store.capacity, 0))
    }
  }

  @Test func `a jump decodes at most the longest replay`() throws {
    let (reader, store) = makeReader(rooms: 40)
    for index in 0..<120 { _ = try reader.frame(at: index) }
    #expect(store.longestReplay <= 10)
    for step in 0..<200 {
      let before = reader.decodedCount
      _ = try reader.frame(at: step * 37 % 120)
      #expect(reader.decodedCount - before <= store.longestReplay)
    }
  }

  @Test(arguments: [(40, 1.3), (12, 2.5), (6, 3.5)])
  func `stepping back decodes about as often as stepping forward`(
    rooms: Int, limit: Double
  ) throws {
    let (reader, _) = makeReader(rooms: rooms)
    for index in 0..<120 { _ = try reader.frame(at: index) }
    let before = reader.decodedCount
    for index in (0..<119).reversed() {
      #expect(try reader.frame(at: index).bitmap == expected[index])
    }
    let share = Double(reader.decodedCount - before) / 119
    #expect(share <= limit, "\(share) frames decoded a step with room for \(rooms)")
  }

  @Test func `the dirty rectangle is the frame's own only after the frame before it`() throws {
    let (reader, _) = makeReader(rooms: 40)
    let whole = PixelRect(image.canvasSize)
    #expect(try reader.frame(at: 0).dirtyRect == whole)
    #expect(try reader.frame(at: 1).dirtyRect != whole)
    #expect(try reader.frame(at: 60).dirtyRect == whole)
    #expect(try reader.frame(at: 59).dirtyRect == whole)
    #expect(try reader.frame(at: 20).dirtyRect == whole)
    #expect(try reader.frame(at: 21).dirtyRect != whole)
  }

  @Test func `canvases and trail stay within the limit and go with their owners`() throws {
    let canvas = image.canvasSize.width * image.canvasSize.height * 4
    let budget = MemoryBudget(byteLimit: 80 * canvas)
    do {
      let store = CheckpointStore(for: image, budget: budget, byteLimit: 16 * canvas)
      let reader = SeekingReader(image, store: store)
      for index in Array(0..<120) + (0..<120).reversed() {
        _ = try reader.frame(at: index)
        #expect(budget.byteCount <= 16 * canvas)
        #expect(budget.used(for: .checkpoints) <= budget.limit(for: .checkpoints))
      }
      #expect(budget.byteCount > 0)
      budget.byteLimit = 8 * canvas
      #expect(budget.byteCount <= 8 * canvas)
    }
    #expect(budget.byteCount == 0)
  }

  @Test func `an index that is not there is refused and does no harm`() throws {
    let (reader, _) = makeReader(rooms: 8)
    #expect(throws: AnimatedImageError.self) { try reader.frame(at: 120) }
    #expect(throws: AnimatedImageError.self) { try reader.frame(at: -1) }
    #expect(try reader.frame(at: 5).bitmap == expected[5])
  }
}
