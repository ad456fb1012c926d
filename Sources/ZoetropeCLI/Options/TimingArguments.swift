import ArgumentParser
import Zoetrope

/// How long frames are shown: one option with one default for every command that names times.
struct TimingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      How long short delays are shown, for every time given and told: browser, exact, ffmpeg, \
      imageio, gtk, or MIN:REPL in ms.
      """,
      valueName: "policy"))
  var timing = TimingArgument(policy: .browser)

  var policy: DelayPolicy { timing.policy }
}
