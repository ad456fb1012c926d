/// What a replay on the way back leaves behind, so that the next steps back need not repeat it.
///
/// Keeps the last frames of the stretch themselves. When the stretch is longer than there is room,
/// it also keeps canvases along the way, a room's length apart: then each frame is decoded twice at
/// most (once to lay the canvases, once from the nearest of them) instead of once for each step.
struct ReplayTrail: ~Copyable {
  private let budget: MemoryBudget
  private let canvasCost: Int
  private var frames: [Int: CompositedFrame] = [:]
  private var canvases: [Int: Bitmap] = [:]
  private var stretch = 0..<0
  private var spacing = 1
  /// Frames it has room for.
  private(set) var capacity = 2
  private var charged = 0

  init(budget: MemoryBudget, canvasCost: Int) {
    self.budget = budget
    self.canvasCost = canvasCost
  }

  deinit { budget.refund(charged, as: .checkpoints) }

  /// Gets ready for a replay of `stretch` with room for `capacity` pictures in all.
  mutating func begin(_ stretch: Range<Int>, capacity: Int) {
    frames.removeAll(keepingCapacity: true)
    // Canvases of a longer stretch, laid earlier, still serve what lies before this one.
    canvases = canvases.filter { $0.key <= stretch.lowerBound }
    let room = max(capacity - canvases.count, 2)
    let isLong = stretch.count > room
    self.capacity = isLong ? max(room / 2, 1) : room
    let canvasRoom = isLong ? max(room - self.capacity, 1) : 0
    spacing = isLong ? max(self.capacity, (stretch.count + canvasRoom) / (canvasRoom + 1)) : 0
    self.stretch = stretch
    settle()
  }

  /// Whether a canvas for frame `index` belongs on the trail.
  func wantsCanvas(at index: Int) -> Bool {
    spacing > 0 && index > stretch.lowerBound && (index - stretch.lowerBound) % spacing == 0
  }

  mutating func keepCanvas(_ canvas: Bitmap, at index: Int) {
    canvases[index] = canvas
    settle()
  }

  /// Keeps `frame` if it is among the last of the stretch that there is room for.
  mutating func keepFrame(_ frame: CompositedFrame) {
    guard frame.index >= stretch.upperBound - capacity else { return }
    frames[frame.index] = frame
    settle()
  }

  /// Frame `index`, if it was kept. It is given up: whoever steps back does not come again soon.
  mutating func takeFrame(_ index: Int) -> CompositedFrame? {
    guard let frame = frames.removeValue(forKey: index) else { return nil }
    settle()
    return frame
  }

  /// The nearest canvas at or before frame `index`.
  func start(for index: Int) -> (index: Int, canvas: Bitmap?)? {
    canvases.filter { $0.key <= index }.max { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  mutating func removeAll() {
    guard charged > 0 else { return }
    frames.removeAll()
    canvases.removeAll()
    settle()
  }

  /// Charges what is held now. Nothing is evicted for it: it is bounded, and in use.
  private mutating func settle() {
    let cost = (frames.count + canvases.count) * canvasCost
    budget.charge(cost - charged, as: .checkpoints)
    charged = cost
  }
}
