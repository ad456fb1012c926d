import Synchronization
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropePlayer

/// The frames that wait for the drawing thread.
@Suite(.timeLimit(.minutes(10))) struct FrameInboxTests {
  /// Counts the frames that were requested of a stream.
  private final class Requests: Sendable {
    private let requested = Mutex(0)
    var count: Int { requested.withLock { $0 } }

    /// A stream of 40 frames.
    var frames: AsyncStream<ScheduledFrame> {
      AsyncStream {
        let index = self.requested.withLock { count in
          defer { count += 1 }
          return count
        }
        if index >= 40 { return nil }
        let bitmap = Bitmap.drawn(size: PixelSize(width: 1, height: 1)) { _, _ in }
        return ScheduledFrame(index: index, bitmap: bitmap)
      }
    }

    func reached(_ count: Int) async {
      while self.count < count { await Task.yield() }
    }
  }

  @Test(arguments: [(false, FrameInbox.limit), (true, 1)])
  func `frames are requested only while there is room for them`(
    _ waits: Bool, _ limit: Int
  ) async {
    let (inbox, requests) = (FrameInbox(), Requests())
    async let taken: Void = inbox.take(requests.frames, waits: waits, shifts: false) {}
    for index in 0..<40 {
      await requests.reached(min(index + limit, 40))
      // Whoever does not wait for room has enough turns to request all of them.
      for _ in 0..<200 { await Task.yield() }
      #expect(requests.count <= min(index + limit, 41))
      while inbox.first == nil { await Task.yield() }
      guard case .frame(let frame, _) = inbox.take() else {
        Issue.record("no frame")
        break
      }
      #expect(frame.index == index)
    }
    await taken
    #expect(inbox.take() == nil)
  }

  @Test func `closing it ends the wait for room`() async {
    let (inbox, requests) = (FrameInbox(), Requests())
    async let taken: Void = inbox.take(requests.frames, waits: true, shifts: false) {}
    await requests.reached(1)
    inbox.close()
    await taken
    #expect(requests.count == 41)
  }
}
