import Observation
import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@MainActor
@Suite(.timeLimit(.minutes(10))) struct ImageAnimatorTests {
  private let clock = ManualClock()

  /// Waits until the animator shows another frame.
  private func change(of animator: ImageAnimator, after action: () -> Void) async {
    let changes = AsyncStream<Void> { continuation in
      withObservationTracking {
        _ = animator.bitmap
      } onChange: {
        continuation.finish()
      }
    }
    action()
    for await _ in changes {}
  }

  @Test func `the current picture can be observed, stopped and started over`() async {
    let shared = PaintedFrames.tenths(3)
    let animator = ImageAnimator(FrameScheduler(sharing: shared, clock: clock))
    #expect(animator.bitmap == nil && animator.state == .idle)
    await change(of: animator) { animator.start() }
    #expect(animator.frame?.index == 0 && animator.bitmap != nil && animator.state == .playing)
    await clock.waitForSleepers(count: 1)
    await change(of: animator) { clock.advance(by: .milliseconds(100)) }
    #expect(animator.frame?.index == 1)
    animator.stop()
    #expect(animator.state == .stopped && animator.frame?.index == 1)
    await change(of: animator) { animator.restart() }
    #expect(animator.frame?.index == 0 && animator.state == .playing)
    animator.stop()
    await shared.waitUntilIdle()
  }

  @Test func `a pause keeps the picture, and starting goes on`() async {
    let animator = ImageAnimator(FrameScheduler(sharing: PaintedFrames.tenths(3), clock: clock))
    await change(of: animator) { animator.start() }
    animator.pause()
    #expect(animator.state == .paused && animator.frame?.index == 0)
    animator.start()
    #expect(animator.state == .playing)
    await clock.waitForSleepers(count: 1)
    await change(of: animator) { clock.advance(by: .milliseconds(100)) }
    #expect(animator.frame?.index == 1)
    animator.stop()
  }

  @Test func `an animator that has not shown a frame yet is playing once it is started`() async {
    let animator = ImageAnimator(FrameScheduler(sharing: PaintedFrames.tenths(3), clock: clock))
    // Nothing is awaited here, so the animator's task does not run in between.
    animator.start()
    animator.start()
    #expect(animator.state == .playing)
    animator.pause()
    animator.start()
    #expect(animator.state == .playing)
    animator.stop()
  }

  @Test func `an animator that is dropped ends its playing`() async {
    let shared = PaintedFrames.tenths(3)
    do {
      let animator = ImageAnimator(FrameScheduler(sharing: shared, clock: clock))
      await change(of: animator) { animator.start() }
    }
    await shared.live.reach(.nothing)
    #expect(shared.live.count(.session) == 0)
  }
}
