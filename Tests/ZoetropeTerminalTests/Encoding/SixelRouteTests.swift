import TestRunning
import Testing

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct SixelRouteTests {
  private let top = SixelRoute.Pen(column: 0, register: -1)

  private func length(of route: SixelRoute, through runs: [SixelRoute.Run]) -> Int {
    var pen = top
    var bytes = 0
    for index in route.order {
      bytes += SixelRoute.cost(from: pen, to: runs[index])
      pen = SixelRoute.Pen(column: runs[index].end, register: runs[index].register)
    }
    return bytes
  }

  @Test func `a colour that is needed twice is chosen once where that is shorter`() {
    let runs = [
      SixelRoute.Run(register: 107, start: 0, end: 1),
      SixelRoute.Run(register: 108, start: 1, end: 2),
      SixelRoute.Run(register: 107, start: 2, end: 3),
    ]
    var route = SixelRoute()
    route.find(through: runs, from: top, improving: false)
    #expect(route.order == [0, 1, 2])
    #expect(length(of: route, through: runs) == 12)
    route.find(through: runs, from: top, improving: true)
    // A blank and a carriage return are shorter than a third selection.
    #expect(route.order == [1, 2, 0])
    #expect(length(of: route, through: runs) == 10)
  }

  @Test func `trying orders draws every run once and never sends more`() {
    var numbers = SplitMix(state: 37)
    var saved = 0
    for _ in 0..<300 {
      var runs: [SixelRoute.Run] = []
      for _ in 0..<Int.random(in: 1...40, using: &numbers) {
        let start = Int.random(in: 0..<30, using: &numbers)
        runs.append(
          SixelRoute.Run(
            register: Int.random(in: 0..<130, using: &numbers), start: start,
            end: start + Int.random(in: 1...4, using: &numbers)))
      }
      runs.sort { $0.start < $1.start }
      var plain = SixelRoute()
      plain.find(through: runs, from: top, improving: false)
      var tried = SixelRoute()
      tried.find(through: runs, from: top, improving: true)
      #expect(tried.order.sorted() == Array(runs.indices))
      #expect(plain.order.sorted() == Array(runs.indices))
      let gain = length(of: plain, through: runs) - length(of: tried, through: runs)
      #expect(gain >= 0)
      saved += gain
    }
    #expect(saved > 0)
  }
}
