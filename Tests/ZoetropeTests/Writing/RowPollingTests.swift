import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .computes) struct RowPollingTests {
  /// Work on a picture of a million pixels, with the least number of polls: four for each pass over the pixels.
  struct Work: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let least: Int
    let run: @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Void

    init(
      _ name: String, least: Int,
      _ run: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Void
    ) {
      (testDescription, self.least, self.run) = (name, least, run)
    }
  }

  private static let size = PixelSize(width: 1024, height: 1024)
  private static let all = PixelRect(size)
  private static let plain = drawn(alpha: 255)
  private static let same = drawn(alpha: 255)
  private static let translucent = drawn(alpha: 100)

  private static func drawn(alpha: UInt8) -> Bitmap {
    Pictures.make(size.width, size.height) { x, y in
      RGBA(red: UInt8(x & 63), green: y & 64 == 0 ? 0 : 255, blue: 7, alpha: alpha)
    }
  }

  static let works: [Work] = [
    Work("comparing", least: 4) {
      _ = try PixelDifference.bounds(from: Self.plain, to: Self.same, isCancelled: $0)
    },
    Work("finding pixels that vanish", least: 4) {
      _ = try Self.plain.pixelsLost(to: Self.same, isCancelled: $0)
    },
    Work("finding transparent pixels", least: 4) {
      _ = try Self.plain.hasClearPixels(isCancelled: $0)
    },
    Work("clearing", least: 8) { _ = try Self.plain.cleared(in: Self.all, isCancelled: $0) },
    Work("cropping", least: 4) {
      let part = PixelRect(x: 0, y: 1, width: 1024, height: 1023)
      _ = try Self.plain.cropped(to: part, isCancelled: $0)
    },
    Work("flattening", least: 16) {
      var count = 0
      _ = try Self.translucent.flattened(
        .threshold(), in: Self.all, partialCount: &count, isCancelled: $0)
    },
    Work("a survey", least: 4) {
      var survey = ColorSurvey()
      try survey.add(Self.plain, changed: nil, isCancelled: $0)
    },
    Work("a survey of colours to be reduced", least: 20) {
      var survey = ColorSurvey(reduction: ColorReduction())
      try survey.add(Self.translucent, changed: nil, isCancelled: $0)
    },
    Work("counting colours", least: 4) {
      _ = try ColorReducer.fits(Self.plain, from: nil, in: Self.all, isCancelled: $0)
    },
    Work("collecting colours", least: 8) {
      var colors = FrameColors()
      let work = FrameWork(picture: Self.plain, base: nil, rect: Self.all)
      _ = try colors.required(by: work, isCancelled: $0)
    },
    Work("estimating", least: 4) {
      let work = FrameWork(picture: Self.plain, base: Self.same, rect: Self.all)
      _ = try work.estimatedCost(isCancelled: $0)
    },
    Work("preparing", least: 8) {
      var preparation = PicturePreparation(
        size: Self.size, format: .rgba16, keepsHiddenColors: false, isCancelled: $0)
      _ = try preparation.prepare(Self.plain, changed: nil)
    },
    Work("a tolerance", least: 8) {
      var placer = FramePlacer(framesCanClear: true, triesBackground: false)
      _ = try placer.add(
        Self.same, changes: Self.all, cost: { (_) throws(AnimatedImageError) in 0 })
      var tolerance = try #require(PictureTolerance(10, format: .apng))
      _ = try tolerance.apply(Self.plain, over: placer, changed: nil, isCancelled: $0)
    },
    Work("a fast GIF", least: 16) {
      let work = FrameWork(picture: Self.plain, base: nil, rect: Self.all)
      _ = try GIFFrameCompressor(globalTable: [], effort: .fast).encode(work, isCancelled: $0)
    },
  ]

  /// Returns how often `work` polls until it ends, and its error, if it is cancelled at poll `last`.
  private static func polls(
    of work: Work, until last: Int
  ) -> (count: Int, error: AnimatedImageError?) {
    let polls = Mutex(0)
    var found: (any Error)?
    do {
      try work.run {
        polls.withLock {
          $0 += 1
          return $0 >= last
        }
      }
    } catch {
      found = error
    }
    return (polls.withLock { $0 }, found as? AnimatedImageError)
  }

  @Test(arguments: works) func `work on a large picture ends at the poll that cancels it`(
    _ work: Work
  ) {
    let whole = Self.polls(of: work, until: .max)
    #expect(whole.count >= work.least && whole.error == nil)
    for last in [1, work.least / 2, work.least] {
      let (count, error) = Self.polls(of: work, until: last)
      #expect(error?.code == .cancelled && count == last)
    }
  }

  @Test func `a small rectangle is polled once, and a wide one for each row`() throws {
    for (rect, wanted) in [
      (PixelRect(x: 3, y: 5, width: 40, height: 30), 1),
      (PixelRect(x: 0, y: 7, width: 1 << 19, height: 9), 9), (PixelRect.empty, 0),
    ] {
      var count = 0
      for y in rect.y..<rect.maxY {
        try rect.poll(row: y) {
          count += 1
          return false
        }
      }
      #expect(count == wanted)
    }
  }
}
