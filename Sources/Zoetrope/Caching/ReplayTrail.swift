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

  private let store: CheckpointStore
  private let frames: [FrameControl]
  private let bounds: PixelRect
  private let bytesPerPixel: Int
  private var canvasCost: Int { store.canvasCost }
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
  private var charged = 0

  init(_ image: AnimatedImage, store: CheckpointStore) {
    self.store = store
    frames = image.frames
    bounds = PixelRect(image.canvasSize)
    bytesPerPixel = image.options.canvasFormat.bytesPerPixel
  }

  deinit { store.reserve(-charged) }

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
    settle()
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
    canvases[index] = canvas
    settle()
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
    // Told to the store in steps of a canvas, since a patch may be a few pixels.
    if patchCost - charged >= canvasCost { settle() }
  }

  /// The replay has arrived: `frame` is shown, and steps back start from it.
  mutating func arrive(at frame: CompositedFrame) {
    picture = Canvas(frame.bitmap)
    position = frame.index
    settle()
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
    settle()
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

  mutating func removeAll() {
    guard charged > 0 else { return }
    patches.removeAll()
    patchCost = 0
    canvases.removeAll()
    picture = nil
    settle()
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

  /// Has the store make room for what is held now.
  private mutating func settle() {
    let cost = patchCost + (canvases.count + (picture == nil ? 0 : 1)) * canvasCost
    guard cost != charged else { return }
    store.reserve(cost - charged)
    charged = cost
  }
}
