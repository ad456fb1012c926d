internal import Synchronization

/// The results of a replay, which are kept so that further steps back need not repeat the replay.
///
/// For each frame of the replayed range, the trail keeps a patch: the frame's pixels in the areas that the next frame
/// changes. The trail also keeps the picture of the frame at the current position. A step back restores one patch, so
/// its cost is proportional to the change, as it is for a step forward. (If whole frames were kept, the copy of the
/// canvas would make a step back eight times as expensive as a step forward for small changes.) If there is no room for
/// all patches, those at the start of the range are left out. In this case, canvases are also kept during the replay.
/// They bound the length of replays, so that each frame is decoded about twice instead of once per step.
struct ReplayTrail: ~Copyable {
  private struct Patch {
    let pixels: [SavedRect]
    let damage: Damage?
    let cost: Int
  }

  /// The frames of the image. An image that is still arriving gets further frames.
  var frames: [FrameControl]
  private let bounds: PixelRect
  private let bytesPerPixel: Int
  private let canvasCost: Int
  /// The patches of consecutive frames, beginning with frame `firstKept`. The patch of a frame turns the picture of the
  /// next frame back into the picture of that frame.
  private var patches: [Patch] = []
  /// The canvases kept during replays, keyed by the index of the frame that is drawn on each canvas.
  private var canvases: [Int: Bitmap] = [:]
  /// The picture of frame `position`.
  private var picture: Canvas?
  private var position = -1
  private var firstKept = 0
  private var stretch = 0..<0
  /// The distance, in frames, from one canvas to the next, or 0 if no canvases are kept.
  private var spacing = 0
  private var patchCost = 0

  /// Creates an empty trail for `image`, whose canvas takes `canvasCost` bytes.
  init(_ image: any ImageOrigin, canvasCost: Int) {
    self.canvasCost = canvasCost
    frames = image.frames
    bounds = PixelRect(image.canvasSize)
    bytesPerPixel = image.options.canvasFormat.bytesPerPixel
  }

  /// The number of bytes that the trail holds.
  var cost: Int { patchCost + (canvases.count + (picture == nil ? 0 : 1)) * canvasCost }

  /// Prepares for a replay of the frames in `stretch`. The frame after `stretch` is the frame to be shown. `capacity`
  /// is the room for the trail, counted in canvases.
  mutating func begin(_ stretch: Range<Int>, capacity: Int) {
    patches.removeAll(keepingCapacity: true)
    patchCost = 0
    picture = nil
    self.stretch = stretch
    // The canvases of an earlier, longer replay are still useful for the frames before this range.
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

  /// Returns whether the patches of all frames in `stretch` fit into a trail with room for `capacity` canvases.
  func fits(_ stretch: Range<Int>, capacity: Int) -> Bool {
    first(of: stretch, fitting: room(of: capacity)) == stretch.lowerBound
  }

  /// Returns whether the trail should keep the canvas on which frame `index` is drawn.
  func wantsCanvas(at index: Int) -> Bool {
    spacing > 0 && index > stretch.lowerBound && (index - stretch.lowerBound) % spacing == 0
  }

  mutating func keepCanvas(_ canvas: Bitmap, at index: Int) {
    if wantsCanvas(at: index) { canvases[index] = canvas }
  }

  /// Keeps the pixels of `frame` in the areas that the next frame changes, if there is room for these pixels.
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

  /// Ends the replay at `frame`, the frame to be shown. The next steps back start from it.
  mutating func arrive(at frame: CompositedFrame) {
    // Without patches, for example after `removeAll()`, no step back could start from the picture of `frame`.
    guard !patches.isEmpty else { return }
    picture = Canvas(frame.bitmap)
    position = frame.index
  }

  /// Steps back to frame `index` and returns that frame, or returns nil if a patch on the way is missing. The patches
  /// used are dropped, because the same steps are unlikely to be repeated soon.
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

  /// Returns the nearest canvas that is kept for a frame at or before `index`, and the index of that frame. Returns nil
  /// if there is none.
  func start(for index: Int) -> (index: Int, canvas: Bitmap?)? {
    canvases.keys.filter { $0 <= index }.max().map { ($0, canvases[$0]) }
  }

  /// Releases everything that the trail holds. A replay in progress adds nothing more to the trail.
  mutating func removeAll() {
    patches.removeAll()
    patchCost = 0
    canvases.removeAll()
    picture = nil
    stretch = 0..<0
    spacing = 0
  }

  private func room(of capacity: Int) -> Int { max(capacity - canvases.count - 1, 1) * canvasCost }

  /// Returns the first frame in `stretch` such that the patches from that frame to the end of `stretch` take no more
  /// bytes than `room`.
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

  /// Returns the rectangles in which the frame after `index` may differ from frame `index`: the rectangle that the
  /// later frame draws, and the rectangle in which frame `index` is disposed of before that, if any. The rectangles are
  /// merged only if their union is not larger than both together.
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

/// The ``ReplayTrail`` of one reader, charged to a memory budget. The budget releases the trail when it needs the
/// memory, because an idle reader cannot do so itself.
final class ChargedTrail: Sendable {
  let share = BudgetShare(.checkpoints)
  private let store: CheckpointStore
  private let trail: Mutex<ReplayTrail>

  init(_ image: any ImageOrigin, store: CheckpointStore) {
    self.store = store
    trail = Mutex(ReplayTrail(image, canvasCost: store.canvasCost))
  }

  deinit {
    store.reserve(-share.heldBytes)
    store.budget.refundAll(of: share)
  }

  /// Whether the trail holds nothing.
  var isEmpty: Bool { share.heldBytes == 0 }

  /// Calls `body` with the trail, which `body` may change. If the trail then holds more or less memory than before,
  /// charges the difference to the budget and the store.
  func withTrail<Result: Sendable>(
    _ body: (inout ReplayTrail) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    store.budget.stamp(share)
    let (result, change) = try trail.withLock { trail throws(AnimatedImageError) in
      let before = trail.cost
      let result = try body(&trail)
      let change = trail.cost - before
      // The bytes are charged under the lock, so that the budget never claims bytes before they are charged.
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
