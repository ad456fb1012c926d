import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10))) struct PlaybackControlTests {
  /// Every 7 ms of a play of five frames of 100 ms.
  static let moments = stride(from: 1, through: 499, by: 7).map { Duration.milliseconds($0) }

  @Test(arguments: moments)
  func `a pause at any point moves every later frame by its length`(moment: Duration) throws {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: moment)
    let before = run.frames.count
    run.control(.pause)
    run.run()
    #expect(run.frames.count == before)
    run.now += .milliseconds(1234)
    run.control(.resume)
    run.run()
    #expect(run.frames == [0, 1, 2, 3, 4])
    let expected = (0..<5).map { index in
      Duration.milliseconds(100 * index + (index < before ? 0 : 1234))
    }
    #expect(run.times == expected)
    #expect(run.now == .milliseconds(1734))
  }

  @Test(arguments: moments)
  func `a change of rate at any point keeps the position`(moment: Duration) throws {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: moment)
    run.control(.setRate(PlaybackRate(4)))
    run.run()
    #expect(run.frames == [0, 1, 2, 3, 4])
    for (frame, time) in run.times.enumerated() where time > moment {
      #expect(time == moment + (.milliseconds(100 * frame) - moment) / 4)
    }
    #expect(run.now == moment + (.milliseconds(500) - moment) / 4)
  }

  @Test(arguments: moments)
  func `a change of rate while paused shows when time goes on`(moment: Duration) throws {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: moment)
    run.control(.pause)
    run.now += .seconds(1)
    run.control(.setRate(PlaybackRate(0.5)))
    run.now += .seconds(1)
    run.control(.resume)
    run.run()
    #expect(run.now == moment + .seconds(2) + (.milliseconds(500) - moment) * 2)
  }

  @Test(arguments: moments)
  func `a seek at any point shows its frame at once and goes on from there`(moment: Duration)
    throws
  {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: moment)
    let before = run.frames
    run.control(.seek(frame: 3, offset: .zero))
    run.run()
    #expect(run.frames == before + [3, 4])
    #expect(run.times.suffix(2) == [moment, moment + .milliseconds(100)])
    #expect(run.now == moment + .milliseconds(200))
  }

  @Test func `a seek into a frame leaves the rest of its time`() throws {
    for (direction, rest, next) in [(PlaybackDirection.forward, 70, 3), (.backward, 30, 1)] {
      var run = try MachineRun(
        delays: .tenths(5), options: PlaybackOptions(direction: direction))
      run.run(limit: 1)
      run.control(.seek(frame: 2, offset: .milliseconds(30)))
      run.run(limit: 2)
      #expect(run.frames.suffix(2) == [2, next])
      #expect(run.times.suffix(2) == [.zero, .milliseconds(rest)])
      #expect(run.presentations[1].duration == .milliseconds(rest))
    }
  }

  @Test(arguments: [
    LatePolicy.skip, .stretch, .latest, .catchUp(maximumRate: 1), .catchUp(maximumRate: 4),
  ])
  func `what a seek or a turn leaves of a frame is shown under any policy`(policy: LatePolicy)
    throws
  {
    var run = try MachineRun(delays: .tenths(5), options: PlaybackOptions(latePolicy: policy))
    run.run(limit: 1)
    run.now = .milliseconds(40)
    run.control(.seek(frame: 2, offset: .milliseconds(30)))
    run.run(limit: 2)
    #expect(run.frames.suffix(2) == [2, 3])
    #expect(run.times.suffix(2) == [.milliseconds(40), .milliseconds(110)])
    run.now += .milliseconds(10)
    run.control(.setDirection(.backward))
    run.run(limit: 1)
    #expect(run.shown.last == .init(frame: 2, at: .milliseconds(130)))
  }

  @Test func `a seek while paused shows the frame and time still stands`() throws {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: .milliseconds(150))
    run.control(.pause)
    run.control(.seek(frame: 4, offset: .zero))
    run.now = .milliseconds(300)
    run.run()
    #expect(run.frames == [0, 1, 4])
    #expect(run.machine.state == .paused)
    run.now = .seconds(9)
    run.control(.resume)
    run.run()
    #expect(run.now == .milliseconds(9100))
  }

  @Test func `paused before the start, the first frame is shown and held`() throws {
    var run = try MachineRun(delays: .tenths(2))
    run.control(.pause)
    run.run()
    #expect(run.frames == [0])
    run.now = .seconds(5)
    run.control(.resume)
    run.run()
    #expect(run.times == [.zero, .milliseconds(5100)])
  }

  @Test(arguments: moments)
  func `turning round at any point runs back the way it came`(moment: Duration) throws {
    var run = try MachineRun(delays: .tenths(5))
    run.run(until: moment)
    let before = run.frames
    run.control(.setDirection(.backward))
    run.run()
    #expect(run.frames == before + before.dropLast().reversed())
    // It takes as long to get back to the start as it took to get here.
    #expect(run.now == moment * 2)
  }

  @Test func `turned round before the start, playback begins at the other end`() throws {
    var run = try MachineRun(delays: .tenths(3))
    run.control(.setDirection(.backward))
    run.run()
    #expect(run.frames == [2, 1, 0])
  }

  @Test(arguments: [
    (0, 0, 0), (99, 0, 99), (100, 1, 0), (101, 1, 1), (299, 2, 99), (300, 0, 0), (450, 1, 50),
    (599, 2, 99), (600, 2, 0), (900, 2, 0), (-5, 0, 0),
  ])
  func `a frame's first instant belongs to the frame`(time: Int, frame: Int, offset: Int) throws {
    let timeline = PlaybackTimeline(PaintedFrames.controls(.tenths(3)))
    let position = timeline.position(at: .milliseconds(time), in: 0..<3, playCount: .finite(2))
    #expect(position.frame == frame)
    #expect(position.offset == .milliseconds(offset))
  }

  @Test func `ended playback stays ended whatever is asked`() throws {
    var run = try MachineRun(delays: .tenths(2))
    run.run()
    run.control(.seek(frame: 0, offset: .zero))
    run.control(.resume)
    run.control(.end(.cancelled))
    run.run()
    #expect(run.machine.state == .finished)
    #expect(run.frames == [0, 1])
  }
}
