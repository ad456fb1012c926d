internal import Synchronization

/// What a replay on the way back leaves behind, so that the next steps back need not repeat it.
///
/// For each frame of the stretch it keeps the pixels that the frame after it changes, and the picture
/// it stands at: a step back puts one such patch back, which costs what the change is large, as a
/// step forward does. (Whole frames were tried first: for small changes, copying the canvas made a
/// step back eight times as dear as one forward.) Patches that do not fit are left out from the
/// front of the stretch; canvases along the way then keep the distance to replay short, so that each
/// frame is decoded about twice instead of once for each step.
struct ReplayTrail: ~Copyable {
  private struct Patch {
    let pixels: [SavedRect]
    let damage: Damage?
    let cost: Int
  }

  private let frames: [FrameControl]
  private let bounds: PixelRect
  private let bytesPerPixel: Int
  private let canvasCost: Int
  /// Each leads to its frame from the one after it: to `firstKept` first, then in order.
  private var patches: [Patch] = []
  /// By the frame that is drawn on them.
  private var canvases: [Int: Bitmap] = [:]
  /// The picture of frame `position`.
  private var picture: Canvas?
  private var position = -1
  private var firstKept = 0
  private var stretch = 0..<0
  /// Frames from one canvas to the next; 0 for none.
  private var spacing = 0
  private var patchCost = 0

  /// A trail in `image`, a canvas of which takes `canvasCost` bytes.
  init(_ image: AnimatedImage, canvasCost: Int) {
    self.canvasCost = canvasCost
    frames = image.frames
    bounds = PixelRect(image.canvasSize)
    bytesPerPixel = image.options.canvasFormat.bytesPerPixel
  }

  /// Bytes held.
  var cost: Int { patchCost + (canvases.count + (picture == nil ? 0 : 1)) * canvasCost }

  /// Gets ready for a replay of `stretch`, after which the frame behind it is shown, with room for
  /// `capacity` canvases' bytes in all.
  mutating func begin(_ stretch: Range<Int>, capacity: Int) {
    patches.removeAll(keepingCapacity: true)
    patchCost = 0
    picture = nil
    self.stretch = stretch
    // Canvases of a longer stretch, laid earlier, still serve what lies before this one.
    canvases = canvases.filter { $0.key <= stretch.lowerBound }
    let room = room(of: capacity)
    firstKept = first(of: stretch, fitting: room)
    spacing = 0
    if firstKept > stretch.lowerBound {
      firstKept = first(of: stretch, fitting: room / 2)
      let canvasRoom = max(room / 2 / canvasCost, 1)
      spacing = max(stretch.upperBound - firstKept, stretch.count / (canvasRoom + 1) + 1)
    }
  }

  /// Whether the patches of all frames of `stretch` fit.
  func fits(_ stretch: Range<Int>, capacity: Int) -> Bool {
    first(of: stretch, fitting: room(of: capacity)) == stretch.lowerBound
  }

  /// Whether a canvas for frame `index` belongs on the trail.
  func wantsCanvas(at index: Int) -> Bool {
    spacing > 0 && index > stretch.lowerBound && (index - stretch.lowerBound) % spacing == 0
  }

  mutating func keepCanvas(_ canvas: Bitmap, at index: Int) {
    if wantsCanvas(at: index) { canvases[index] = canvas }
  }

  /// Keeps of `frame` what the frame after it will change, if there is room.
  mutating func keep(_ frame: CompositedFrame) throws(AnimatedImageError) {
    guard frame.index == firstKept + patches.count, frame.index < stretch.upperBound else { return }
    let canvas = Canvas(frame.bitmap)
    let (first, second) = changedRects(after: frame.index)
    var pixels = [try canvas.copy(first)]
    if let second { pixels.append(try canvas.copy(second)) }
    let cost = cost(after: frame.index)
    patches.append(Patch(pixels: pixels, damage: frame.damage, cost: cost))
    patchCost += cost
  }

  /// The replay has arrived: `frame` is shown, and steps back start from it.
  mutating func arrive(at frame: CompositedFrame) {
    // Without patches, as when all was given up meanwhile, no step could start from the picture.
    guard !patches.isEmpty else { return }
    picture = Canvas(frame.bitmap)
    position = frame.index
  }

  /// Goes back to frame `index`, if every patch on the way is there. Patches used are given up:
  /// whoever steps back does not come again soon.
  mutating func step(backTo index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    guard index < position, index >= firstKept, picture != nil,
      patches.count == position - firstKept
    else { return nil }
    var damage: Damage?
    while position > index, let patch = patches.popLast() {
      for part in patch.pixels { try picture?.restore(part) }
      damage = patch.damage
      patchCost -= patch.cost
      position -= 1
    }
    switch picture {
    case .none: return nil
    case .some(let picture):
      return CompositedFrame(
        index: index, bitmap: picture.bitmap, dirtyRect: bounds, damage: damage)
    }
  }

  /// The nearest canvas at or before frame `index`.
  func start(for index: Int) -> (index: Int, canvas: Bitmap?)? {
    canvases.keys.filter { $0 <= index }.max().map { ($0, canvases[$0]) }
  }

  /// Gives everything up; a replay that is under way keeps nothing more.
  mutating func removeAll() {
    patches.removeAll()
    patchCost = 0
    canvases.removeAll()
    picture = nil
    stretch = 0..<0
    spacing = 0
  }

  private func room(of capacity: Int) -> Int { max(capacity - canvases.count - 1, 1) * canvasCost }

  /// The first frame of `stretch` from which on all patches fit into `room` bytes.
  private func first(of stretch: Range<Int>, fitting room: Int) -> Int {
    var first = stretch.upperBound
    var sum = 0
    while first > stretch.lowerBound {
      sum += cost(after: first - 1)
      if sum > room { break }
      first -= 1
    }
    return first
  }

  /// Where the picture of the frame after `index` may differ from that of `index`: what that frame
  /// draws, and what is disposed of before it. One rectangle round both is often much larger.
  private func changedRects(after index: Int) -> (PixelRect, PixelRect?) {
    let drawn = frames[index + 1].rect.intersection(bounds)
    let disposed = frames[index].rect.intersection(bounds)
    guard frames[index].disposal != .keep, !disposed.isEmpty else { return (drawn, nil) }
    let both = drawn.union(disposed)
    if both.size.area <= drawn.size.area + disposed.size.area { return (both, nil) }
    return (drawn, disposed)
  }

  private func cost(after index: Int) -> Int {
    let (first, second) = changedRects(after: index)
    return max((first.size.area + (second?.size.area ?? 0)) * bytesPerPixel, 64)
  }
}

/// The ``ReplayTrail`` of one reader, charged to a budget and given up when that asks for it: a reader
/// that nobody uses cannot give anything back itself.
final class ChargedTrail: Sendable {
  let share = BudgetShare(.checkpoints)
  private let store: CheckpointStore
  private let trail: Mutex<ReplayTrail>

  init(_ image: AnimatedImage, store: CheckpointStore) {
    self.store = store
    trail = Mutex(ReplayTrail(image, canvasCost: store.canvasCost))
  }

  deinit {
    store.reserve(-share.heldBytes)
    store.budget.refundAll(of: share)
  }

  /// Whether nothing is held.
  var isEmpty: Bool { share.heldBytes == 0 }

  /// Asks or changes the trail, and has the budget and the store make room for what it holds then.
  func withTrail<Result: Sendable>(
    _ body: (inout ReplayTrail) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    store.budget.stamp(share)
    let (result, change) = try trail.withLock { trail throws(AnimatedImageError) in
      let before = trail.cost
      let result = try body(&trail)
      let change = trail.cost - before
      // Under the lock, so that the budget never asks for what was not charged yet.
      store.budget.charge(change, to: self)
      return (result, change)
    }
    if change != 0 { store.reserve(change) }
    if change > 0 { store.budget.settle() }
    return result
  }
}

extension ChargedTrail: BudgetMember {
  func shed(_ byteCount: Int) -> Int {
    let freed = trail.withLock { trail in
      let freed = trail.cost
      trail.removeAll()
      store.budget.refund(freed, of: share)
      return freed
    }
    store.reserve(-freed)
    return freed
  }
}
