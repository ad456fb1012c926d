/// The order in which the runs of a band are drawn.
///
/// A run costs a colour, unless it is the one that was chosen last, and the way to its first column:
/// blanks, or a carriage return and blanks when it begins further left. So an order has a length,
/// and a shorter one is found as for any round trip: by moving runs elsewhere as long as it helps.
struct SixelRoute: Sendable {
  /// Pixels of one colour in neighbouring columns.
  struct Run: Sendable {
    let register: Int
    let start: Int
    let end: Int
  }

  /// Where the pen is: the column, and the register that is chosen; -1 for none.
  struct Pen: Sendable {
    var column: Int
    var register: Int
  }

  /// The runs in the order in which they are drawn, as indices of what they were.
  private(set) var order: [Int] = []

  /// The largest number of runs for which orders are tried: the time grows with its square.
  ///
  /// Small changes are what counts, since they are nothing but choosing and moving; a band of a
  /// whole picture has hundreds of runs, which lie side by side and leave less to win.
  static let triedCount = 64
  /// Runs that are moved together, at most.
  private static let longestBlock = 6
  private var runs: [Run] = []

  /// Orders `runs`, which are sorted from left to right, for a pen that stands at `pen`.
  ///
  /// Each goes, in turn, to the pass over the band where it costs the fewest bytes; with
  /// `improving`, what can be moved to a cheaper place is moved after that.
  mutating func find(through runs: [Run], from pen: Pen, improving: Bool) {
    self.runs = runs
    fillPasses(from: pen)
    if improving, runs.count > 1, runs.count <= Self.triedCount { improve(from: pen) }
  }

  /// The bytes between drawing a run that leaves the pen at `pen` and drawing `run`.
  static func cost(from pen: Pen, to run: Run) -> Int {
    let moving =
      run.start >= pen.column ? blanks(run.start - pen.column) : 1 + blanks(run.start)
    return moving + (run.register == pen.register ? 0 : 1 + digits(run.register))
  }

  private static func digits(_ number: Int) -> Int { number < 10 ? 1 : number < 100 ? 2 : 3 }

  /// The bytes of so many equal characters.
  private static func blanks(_ count: Int) -> Int { count > 3 ? 2 + digits(count) : count }

  private func pen(after index: Int) -> Pen {
    Pen(column: runs[index].end, register: runs[index].register)
  }

  private mutating func fillPasses(from pen: Pen) {
    var passes: [[Int]] = []
    for index in runs.indices {
      let run = runs[index]
      // A pass of its own also costs a carriage return.
      var best = -1
      var least = Self.cost(from: Pen(column: .max, register: -1), to: run)
      for (candidate, pass) in passes.enumerated() {
        let end = self.pen(after: pass[pass.count - 1])
        guard end.column <= run.start else { continue }
        let cost = Self.cost(from: end, to: run)
        if cost < least || (cost == least && best < 0) { (best, least) = (candidate, cost) }
      }
      if best < 0 { passes.append([index]) } else { passes[best].append(index) }
    }
    order.removeAll(keepingCapacity: true)
    for pass in passes { order += pass }
  }

  /// Moves blocks of runs as long as one move makes the way shorter.
  private mutating func improve(from pen: Pen) {
    var improved = true
    while improved {
      improved = false
      for length in 1...min(Self.longestBlock, order.count - 1) {
        for first in 0...order.count - length where move(first, length, from: pen) {
          improved = true
        }
      }
    }
  }

  /// Moves `length` runs from `first` on to the place that saves most; false when none saves.
  private mutating func move(_ first: Int, _ length: Int, from pen: Pen) -> Bool {
    let last = first + length - 1
    let before = first == 0 ? pen : self.pen(after: order[first - 1])
    let head = runs[order[first]]
    let tail = self.pen(after: order[last])
    var saved = Self.cost(from: before, to: head)
    if last + 1 < order.count {
      let next = runs[order[last + 1]]
      saved += Self.cost(from: tail, to: next) - Self.cost(from: before, to: next)
    }
    if saved <= 0 { return false }
    var target = -1
    var most = 0
    // In front of the run at `place`, or behind the last.
    for place in 0...order.count where place < first || place > last + 1 {
      let left = place == 0 ? pen : self.pen(after: order[place - 1])
      var added = Self.cost(from: left, to: head)
      if place < order.count {
        let right = runs[order[place]]
        added += Self.cost(from: tail, to: right) - Self.cost(from: left, to: right)
      }
      if saved - added > most { (most, target) = (saved - added, place) }
    }
    if target < 0 { return false }
    let block = Array(order[first...last])
    order.removeSubrange(first...last)
    order.insert(contentsOf: block, at: target < first ? target : target - length)
    return true
  }
}
